//! What the committed PTX must be, as text: fresh, typed as declared, with the barriers that the
//! source has, and with the instructions that the kernels are about.

mod common;

use std::collections::BTreeSet;

use common::{digest, entries, modules, package};
use kernels::handle::ParameterType;

#[test]
fn the_modules_are_built_from_these_sources() {
    let expected = digest::sources_digest(&package()).unwrap();
    for (_, path, text) in modules() {
        assert_eq!(
            digest::digest_in_header(&text),
            Some(expected.as_str()),
            "{} is stale: run `cargo xtask ptx`",
            path.display()
        );
    }
}

/// Whether PTX's declaration of a parameter fits the declared type.
fn fits(declaration: &str, ty: ParameterType) -> bool {
    let words: Vec<&str> = declaration.split_whitespace().collect();
    let types: &[&str] = match ty {
        ParameterType::U32 | ParameterType::I32 => &[".u32", ".s32", ".b32"],
        ParameterType::F32 => &[".f32"],
        ParameterType::U64 | ParameterType::I64 => &[".u64", ".s64", ".b64"],
        ParameterType::F64 => &[".f64"],
        ParameterType::Pointer { .. } => &[".u64"],
    };
    let pointer = matches!(ty, ParameterType::Pointer { .. });
    words.first() == Some(&".param")
        && words.get(1).is_some_and(|word| types.contains(word))
        && words.contains(&".ptr") == pointer
}

#[test]
fn parameters_are_as_declared() {
    for (_, _, text) in modules() {
        for entry in entries(&text) {
            let Some(kernel) = kernels::ALL.iter().find(|kernel| kernel.name == entry.name) else {
                continue; // `list.rs` reports it.
            };
            assert_eq!(
                entry.parameters.len(),
                kernel.parameters.len(),
                "{}",
                entry.name
            );
            for (found, declared) in entry.parameters.iter().zip(kernel.parameters) {
                assert!(
                    fits(found, declared.ty),
                    "{}: {} is {:?}, the PTX has {found:?}",
                    entry.name,
                    declared.name,
                    declared.ty
                );
            }
        }
    }
}

#[test]
fn no_shared_variable_has_an_initialiser() {
    for (_, _, text) in modules() {
        for line in text.lines().filter(|line| line.contains(".shared .align")) {
            assert!(!line.contains('='), "{line}");
            assert!(line.trim_end().ends_with("];"), "{line}");
        }
    }
}

/// PTX ISA 4.4: a letter and any of letters, digits, `_` and `$`; or `_`, `$` or `%` and at least
/// one of these.
fn is_identifier(word: &str) -> bool {
    let follow = |text: &str| {
        text.chars()
            .all(|c| c.is_ascii_alphanumeric() || "_$".contains(c))
    };
    let mut characters = word.chars();
    match characters.next() {
        Some(first) if first.is_ascii_alphabetic() => follow(characters.as_str()),
        Some('_' | '$' | '%') => !characters.as_str().is_empty() && follow(characters.as_str()),
        _ => false,
    }
}

#[test]
fn declared_names_are_valid_and_unique() {
    assert!(is_identifier("vector_add") && is_identifier("$L__BB0_1") && is_identifier("_1"));
    assert!(!is_identifier("1a") && !is_identifier("_") && !is_identifier("a.b"));
    for (_, _, text) in modules() {
        let mut names = BTreeSet::new();
        let mut declare = |name: &str| {
            assert!(is_identifier(name), "{name:?} is not a PTX identifier");
            assert!(names.insert(name.to_owned()), "{name} is declared twice");
        };
        for entry in entries(&text) {
            declare(entry.name);
            for parameter in &entry.parameters {
                declare(parameter.split_whitespace().last().unwrap());
            }
            for label in entry.body.iter().filter_map(|line| line.strip_suffix(':')) {
                declare(label);
            }
        }
        for line in text.lines().map(str::trim) {
            let variable = [
                ".shared",
                ".global",
                ".const",
                ".extern",
                ".visible .global",
            ]
            .iter()
            .any(|space| line.starts_with(space));
            if variable && line.contains('[') {
                let (declaration, _) = line.split_once('[').unwrap();
                declare(declaration.split_whitespace().last().unwrap());
            }
        }
    }
}

#[test]
fn no_path_of_the_building_machine_is_in_the_text() {
    for (_, _, text) in modules() {
        for line in text.lines().filter(|line| line.contains(".file")) {
            let path = line.split('"').nth(1).unwrap();
            assert!(
                path.starts_with("kernels/src/") || path.starts_with("library/"),
                "{line}"
            );
        }
    }
}

/// The kernels' point: 16-byte accesses, and all loads of an unrolled group before their use.
#[test]
fn loads_and_stores_are_as_the_kernels_promise() {
    let modules = modules();
    let entries: Vec<_> = modules
        .iter()
        .flat_map(|(_, _, text)| entries(text))
        .collect();
    let entry = |name: &str| entries.iter().find(|entry| entry.name == name).expect(name);

    let x4 = entry("vector_add_x4");
    assert_eq!(
        (x4.count("ld.global.v4"), x4.count("st.global.cs.v4")),
        (2, 1)
    );

    let plain = entry("vector_add");
    assert_eq!(
        (plain.count("ld.global.b32"), plain.count("st.global.b32")),
        (2, 1)
    );

    for (name, unroll) in [
        ("vector_add_strided_1", 1),
        ("vector_add_strided_2", 2),
        ("vector_add_strided_4", 4),
        ("vector_add_strided_8", 8),
        ("saxpy_unrolled", 4),
    ] {
        let arithmetic =
            |line: &&&str| line.starts_with("add.rn.f32") || line.starts_with("fma.rn");
        let loads = entry(name)
            .body
            .iter()
            .take_while(|line| !arithmetic(line))
            .filter(|line| line.starts_with("ld.global"))
            .count();
        assert_eq!(loads, 2 * unroll, "{name}: loads before the first use");
    }
}
