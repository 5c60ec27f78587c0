//! What this machine has and what is missing: `cargo run --release --bin doctor`.

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use warplab::{doctor, program};

/// What this machine has, what is missing for what, and how to get it
#[derive(Parser)]
#[command(name = "doctor", version)]
struct Arguments {
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    program::exit_status::<Arguments>(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<ExitCode> {
    let findings = doctor::examine();
    let text = if arguments.json {
        serde_json::to_string_pretty(&findings)? + "\n"
    } else {
        doctor::render(&findings)
    };
    program::print(&text)
}
