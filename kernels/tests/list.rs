//! The list in `lib.rs`, the files, and the PTX agree.

mod common;

use std::{collections::BTreeSet, fs};

use common::{entries, modules, package};

/// Files of `src` that declare no kernel.
const OTHERS: &[&str] = &["lib", "declare", "handle", "reduction_kernels"];

#[test]
fn every_file_is_listed() {
    let files: BTreeSet<String> = fs::read_dir(package().join("src"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|name| !OTHERS.contains(&name.as_str()))
        .collect();
    let listed: BTreeSet<String> = kernels::FILES
        .iter()
        .map(|(file, _)| (*file).to_owned())
        .collect();
    assert_eq!(
        listed, files,
        "the list in lib.rs and the files in src/ disagree"
    );
}

#[test]
fn handles_are_named_after_their_kernels() {
    let handles: Vec<String> = kernels::FILES
        .iter()
        .flat_map(|(_, handles)| handles.iter().map(|handle| handle.to_lowercase()))
        .collect();
    let names: Vec<&str> = kernels::ALL.iter().map(|kernel| kernel.name).collect();
    assert_eq!(handles, names);
    let unique: BTreeSet<_> = names.iter().collect();
    assert_eq!(unique.len(), names.len(), "two kernels have one name");
}

/// A kernel that is declared but not listed has an entry, and no place in `ALL`.
#[test]
fn the_entries_are_the_listed_kernels() {
    for (target, path, text) in modules() {
        let found: BTreeSet<&str> = entries(&text).iter().map(|entry| entry.name).collect();
        let listed: BTreeSet<&str> = kernels::ALL
            .iter()
            .filter(|kernel| kernel.target == target)
            .map(|kernel| kernel.name)
            .collect();
        assert_eq!(
            listed,
            found,
            "the list in lib.rs and {} disagree: add the handle to its line, or run \
             `cargo xtask ptx`",
            path.display()
        );
    }
}
