//! The list of formats and the files of the folder are the same.

use std::{collections::BTreeSet, fs, path::Path};

use warplab::export::{FORMATS, Style, format};

use crate::reports::two_kernels;

#[test]
fn every_file_is_a_format_and_every_format_a_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/export");
    let files: BTreeSet<_> = fs::read_dir(&folder)
        .expect("the folder of the formats")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| {
            path.file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| name != "mod")
        .collect();
    let listed: BTreeSet<_> = FORMATS
        .iter()
        .map(|format| format.name.to_owned())
        .collect();
    assert_eq!(
        files, listed,
        "src/export/*.rs against the list in src/export/mod.rs"
    );
    assert_eq!(listed.len(), FORMATS.len(), "two formats with one name");
}

#[test]
fn formats_are_found_by_name_and_render() {
    for listed in FORMATS {
        let found = format(listed.name).expect("listed");
        assert_eq!(found.name, listed.name);
        let text = (found.render)(&two_kernels(), &Style::PLAIN).expect("a sound report");
        assert!(text.contains("vector_add_x4"), "{}: {text}", found.name);
        assert!(
            text.ends_with('\n'),
            "{} ends in the middle of a line",
            found.name
        );
        let again = (found.render)(&two_kernels(), &Style::PLAIN).expect("a sound report");
        assert_eq!(text, again, "{} is not deterministic", found.name);
    }
    assert!(format("yaml").is_none());
}

#[test]
fn extensions_are_distinct() {
    let extensions: Vec<_> = FORMATS
        .iter()
        .filter_map(|format| format.extension)
        .collect();
    let distinct: BTreeSet<_> = extensions.iter().collect();
    assert_eq!(distinct.len(), extensions.len());
}
