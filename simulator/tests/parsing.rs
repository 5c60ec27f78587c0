//! The parser against real and damaged PTX: printing and parsing again gives the same tree, and
//! no input makes the loader panic.

use proptest::prelude::*;
use simulator::ptx::{
    ast::{Item, Module},
    load, parse,
};

const CALLS: &str = include_str!("ptx/calls.ptx");
const FORMS: &str = include_str!("ptx/forms.ptx");
const KERNELS: &str = include_str!("../../kernels/ptx/sm_70.ptx");

/// The tree without the statements' source text, which printing does not keep.
fn tree(text: &str) -> Result<Module, Vec<String>> {
    let mut module = parse(text)?;
    for function in &mut module.functions {
        for item in &mut function.body {
            if let Item::Statement(statement) = item {
                statement.text.clear();
            }
        }
    }
    Ok(module)
}

#[test]
fn printed_trees_parse_to_themselves() {
    for text in [CALLS, FORMS, KERNELS] {
        let first = tree(text).unwrap();
        let second = tree(&first.to_string()).unwrap();
        assert_eq!(first, second);
    }
}

#[test]
fn statements_keep_line_and_text() {
    let module = parse(CALLS).unwrap();
    let lines: Vec<&str> = CALLS.lines().collect();
    let mut seen = 0;
    for item in module.functions.iter().flat_map(|function| &function.body) {
        let Item::Statement(statement) = item else {
            continue;
        };
        let line = lines[statement.line as usize - 1];
        assert!(line.contains(&statement.opcode), "{statement:?}: {line}");
        assert!(!statement.text.contains(['\n', '\t', ';']), "{statement:?}");
        seen += 1;
    }
    assert_eq!(seen, 146);
}

#[test]
fn all_problems_come_at_once_each_with_its_line() {
    let text = ".version 8.0\n.target sm_70\n.address_size 32\n.entry k()\n{\n\
                .reg .b77 %x;\nmov.u32 %r1 %r2;\nadd.u32 %r1, 09, 1;\nret;\n}\n\
                .alias a, b;\n.global .u32 g = {1, 2};\n.surfref s;";
    let problems = parse(text).unwrap_err();
    let lines: Vec<&str> = problems
        .iter()
        .filter_map(|p| p.split(':').next())
        .collect();
    let expected = [
        "line 3", "line 6", "line 7", "line 8", "line 11", "line 12", "line 13",
    ];
    assert_eq!(lines, expected, "{problems:#?}");
}

#[test]
fn a_huge_declaration_is_a_problem_not_an_allocation() {
    for declaration in [
        ".reg .b32 %r<4294967295>;",
        ".local .b8 x[18446744073709551615][4];",
        ".shared .b64 x[1099511627776];",
        ".local .b8 x[1099511627776];",
    ] {
        let text = format!(
            ".version 8.0\n.target sm_70\n.address_size 64\n.entry k() {{ {declaration} ret; }}"
        );
        let error = load(&text).unwrap_err();
        assert_eq!(error.problems.len(), 1, "{error}");
        assert!(error.problems[0].starts_with("line 4: "), "{error}");
    }
}

fn sample() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just(CALLS), Just(FORMS), Just(KERNELS)]
}

/// Pieces that are likely to confuse: they stand where something else was.
const PIECES: &[&str] = &[
    "",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ";",
    ":",
    ",",
    "|",
    "!",
    "@",
    "_",
    "+",
    "-",
    "\"",
    "/*",
    "//",
    ".reg",
    ".entry",
    ".func",
    ".param",
    "0x",
    "0f",
    "1e999",
    "99999999999999999999",
    "%r1",
    "ret",
    "call",
    "bra",
    "\u{e9}",
    "\0",
    ".v4",
    "= {",
    "ld.param.s8",
    "0",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn truncated_text_never_panics(text in sample(), share in 0.0..1.0f64) {
        let mut end = (text.len() as f64 * share) as usize;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let _ = load(&text[..end]);
    }

    #[test]
    fn damaged_text_never_panics_and_what_parses_prints(
        text in sample(),
        damages in prop::collection::vec((0.0..1.0f64, 0usize..12, 0..PIECES.len()), 1..6),
    ) {
        let mut text = text.to_owned();
        for (share, length, piece) in damages {
            let mut start = (text.len() as f64 * share) as usize;
            let mut end = (start + length).min(text.len());
            while !text.is_char_boundary(start) { start -= 1; }
            while !text.is_char_boundary(end) { end += 1; }
            text.replace_range(start..end, PIECES[piece]);
        }
        let _ = load(&text);
        if let Ok(first) = tree(&text) {
            let printed = first.to_string();
            let second = tree(&printed);
            prop_assert_eq!(Ok(first), second, "{}", printed);
        }
    }

    #[test]
    fn swapped_lines_never_panic(text in sample(), a in any::<prop::sample::Index>(), b in any::<prop::sample::Index>()) {
        let mut lines: Vec<&str> = text.lines().collect();
        let (a, b) = (a.index(lines.len()), b.index(lines.len()));
        lines.swap(a, b);
        let _ = load(&lines.join("\n"));
    }
}
