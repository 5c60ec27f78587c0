//! The committed PTX, cut into its entries.

// Every test binary uses its part.
#![allow(dead_code, unreachable_pub)]

use std::{fs, path::PathBuf};

use kernels::handle::Target;

#[path = "../../../xtask/src/digest.rs"]
pub mod digest;

/// The folder of this package.
pub fn package() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every module that some kernel needs, with its path and text.
pub fn modules() -> Vec<(Target, PathBuf, String)> {
    Target::ALL
        .into_iter()
        .filter(|target| kernels::ALL.iter().any(|kernel| kernel.target == *target))
        .map(|target| {
            let path = package().join("ptx").join(format!("{}.ptx", target.name()));
            let text = fs::read_to_string(&path)
                .unwrap_or_else(|error| panic!("{}: {error}: cargo xtask ptx", path.display()));
            (target, path, text.replace("\r\n", "\n"))
        })
        .collect()
}

/// A PTX entry.
pub struct Entry<'a> {
    pub name: &'a str,
    /// The declarations between the parentheses, one each.
    pub parameters: Vec<&'a str>,
    /// The instructions and labels, without comments, directives of lines and blank lines.
    pub body: Vec<&'a str>,
}

impl Entry<'_> {
    /// How many instructions begin so.
    pub fn count(&self, prefix: &str) -> usize {
        self.body
            .iter()
            .filter(|line| line.starts_with(prefix))
            .count()
    }

    /// How many barriers of the block it has, and how often it arrives or waits at the cluster's.
    pub fn barriers(&self) -> usize {
        [
            "bar.sync",
            "bar.red",
            "barrier.sync",
            "barrier.red",
            "barrier.cta",
            "barrier.cluster",
        ]
        .iter()
        .map(|prefix| self.count(prefix))
        .sum()
    }
}

/// The entries of a module, in its order.
pub fn entries(text: &str) -> Vec<Entry<'_>> {
    text.split(".entry ")
        .skip(1)
        .map(|rest| {
            let (name, rest) = rest.split_once('(').expect("a parameter list");
            let (parameters, rest) = rest.split_once(')').expect("the list's end");
            let (_, rest) = rest.split_once('{').expect("a body");
            let (body, _) = rest.split_once("\n}").expect("the body's end");
            Entry {
                name: name.trim(),
                parameters: parameters
                    .split(',')
                    .map(str::trim)
                    .filter(|parameter| !parameter.is_empty())
                    .collect(),
                body: body
                    .lines()
                    .map(str::trim)
                    .filter(|line| !line.is_empty())
                    .filter(|line| !line.starts_with("//") && !line.starts_with(".loc"))
                    .collect(),
            }
        })
        .collect()
}
