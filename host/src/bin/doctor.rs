//! What this machine has and what is missing: `cargo run --release --bin doctor`.

use std::{io, process::ExitCode};

use anyhow::Result;
use clap::Parser;
use warplab::{doctor, output::write_or_closed};

/// What this machine has, what is missing for what, and how to get it
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let findings = doctor::examine();
    let text = if arguments.json {
        serde_json::to_string_pretty(&findings)? + "\n"
    } else {
        doctor::render(&findings)
    };
    write_or_closed(&mut io::stdout(), &text)?;
    Ok(ExitCode::SUCCESS)
}
