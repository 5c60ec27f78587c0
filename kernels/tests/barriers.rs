//! Every kernel has as many barriers in PTX as in its source: a compiler that duplicates one (MIR's
//! jump threading does) makes threads of a block wait at different barriers.

mod common;

use std::{collections::BTreeMap, fs};

use common::{entries, modules, package};

/// Kernels whose barriers a compiler may multiply, because they stand in a loop that it unrolls:
/// the name, and how many there must be.
const UNROLLED: &[(&str, usize)] = &[];

/// The text from the first `open` at or after `from` to its counterpart.
fn braced(text: &str, from: usize, open: char, close: char) -> &str {
    let start = from + text[from..].find(open).expect("an opening bracket");
    let mut depth = 0;
    for (at, character) in text[start..].char_indices() {
        if character == open {
            depth += 1;
        } else if character == close {
            depth -= 1;
            if depth == 0 {
                return &text[start..=start + at];
            }
        }
    }
    panic!(
        "unbalanced {open}{close}: {}",
        &text[start..text.len().min(start + 60)]
    );
}

/// Source without comments, whose brackets need not balance.
fn without_comments(source: &str) -> String {
    source
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$')
}

/// The names that a body calls as functions; methods (`.add(`) are none of the file's.
fn calls(body: &str) -> impl Iterator<Item = &str> {
    words(body).filter(|word| {
        let at = word.as_ptr() as usize - body.as_ptr() as usize;
        let after = &body[at + word.len()..];
        !word.is_empty()
            && !body[..at].ends_with('.')
            && (after.starts_with('(') || after.starts_with("::<"))
    })
}

/// A block's barriers in one of the whole grid (`GridBarrier::sync`): before it arrives, and after
/// it has seen the others arrive.
const IN_GRID_BARRIER: usize = 2;

/// Barriers in a body: its own, those of the grid's barriers, and those of the file's functions that
/// it calls, or of the device facade's. A cluster's barrier is two, arriving and waiting.
fn barriers_in(
    body: &str,
    functions: &BTreeMap<&str, &str>,
    facade: &BTreeMap<String, usize>,
) -> usize {
    let grid_barriers = IN_GRID_BARRIER * body.matches(".sync()").count();
    let others: usize = calls(body)
        .map(|name| match functions.get(name) {
            _ if name.starts_with("sync_threads") => 1,
            None if name.starts_with("barrier_arrive") || name == "barrier_wait" => 1,
            None if name == "sync" => 2,
            Some(called) => barriers_in(called, functions, facade),
            None => facade.get(name).copied().unwrap_or(0),
        })
        .sum();
    grid_barriers + others
}

/// The functions of a source: where each begins, its name and its body.
fn bodies(source: &str) -> Vec<(usize, &str, &str)> {
    source
        .match_indices("fn ")
        .map(|(at, _)| {
            let name = words(&source[at + 3..]).next().unwrap_or_default();
            let parameters = at + 3 + source[at + 3..].find('(').expect("parameters");
            let after = parameters + braced(source, parameters, '(', ')').len();
            (at, name, after)
        })
        .filter(|(_, _, after)| {
            // `shared_array!` declares functions without a body.
            let rest = &source[*after..];
            rest.find('{')
                .is_some_and(|brace| !rest[..brace].contains([';', '}', '[']))
        })
        .map(|(at, name, after)| (at, name, braced(source, after, '{', '}')))
        .collect()
}

/// The facade's files whose functions have barriers of their own.
fn facade_source() -> String {
    let read = |file| fs::read_to_string(package().join("src/gpu").join(file)).unwrap();
    without_comments(&(read("reduction.rs") + &read("gather.rs")))
}

/// Whether the function that begins at `at` stays a function in PTX, apart from who calls it.
fn is_called(source: &str, at: usize) -> bool {
    let before = &source[..at];
    let attributes = &before[before.rfind(['}', ';']).unwrap_or(0)..];
    attributes.contains("#[inline(never)]")
}

/// Barriers that each of the facade's functions brings to an entry that uses it.
fn facade() -> BTreeMap<String, usize> {
    let source = facade_source();
    let functions: BTreeMap<&str, &str> = bodies(&source)
        .into_iter()
        .map(|(at, name, body)| (name, if is_called(&source, at) { "" } else { body }))
        .collect();
    functions
        .iter()
        .map(|(name, body)| {
            let count = barriers_in(body, &functions, &BTreeMap::new());
            ((*name).to_owned(), count)
        })
        .collect()
}

/// Barriers per kernel of a file, as written.
fn barriers_in_source(source: &str, facade: &BTreeMap<String, usize>) -> BTreeMap<String, usize> {
    let source = &without_comments(source);
    let bodies = bodies(source);
    let is_kernel = |at: usize| source[..at].ends_with("= unsafe ");
    let functions: BTreeMap<&str, &str> = bodies
        .iter()
        .filter(|(at, ..)| !is_kernel(*at))
        .map(|(_, name, body)| (*name, *body))
        .collect();

    let mut counts = BTreeMap::new();
    for (at, name, body) in bodies.iter().filter(|(at, ..)| is_kernel(*at)) {
        let count = barriers_in(body, &functions, facade);
        let invocation = if name.starts_with('$') {
            // A kernel of a macro_rules!: its invocation names the instances.
            let definition = source[..*at]
                .rfind("macro_rules! ")
                .expect("an enclosing macro");
            let macro_name = words(&source[definition + "macro_rules! ".len()..])
                .next()
                .unwrap();
            source
                .find(&format!("\n{macro_name}! {{"))
                .unwrap_or_else(|| panic!("{macro_name}! is not invoked"))
        } else if source[at + "fn ".len() + name.len()..].starts_with('<') {
            // One of `reduction_kernels!`, which names the instances behind the body.
            source[..*at]
                .rfind("\nreduction_kernels! {")
                .expect("an enclosing reduction_kernels!")
        } else {
            counts.insert((*name).to_owned(), count);
            continue;
        };
        for word in words(braced(source, invocation, '{', '}')) {
            if kernels::ALL.iter().any(|kernel| kernel.name == word) {
                counts.insert(word.to_owned(), count);
            }
        }
    }
    counts
}

#[test]
fn barriers_are_as_written() {
    let mut expected = BTreeMap::new();
    let facade = facade();
    for (file, _) in kernels::FILES {
        let path = package().join("src").join(format!("{file}.rs"));
        expected.append(&mut barriers_in_source(
            &fs::read_to_string(path).unwrap(),
            &facade,
        ));
    }
    for (name, count) in UNROLLED {
        expected.insert((*name).to_owned(), *count);
    }
    // The parser has found the kernels, and some barriers.
    assert_eq!(expected.len(), kernels::ALL.len(), "{:?}", expected.keys());
    assert!(expected.values().sum::<usize>() > 0);

    let modules = modules();
    let found: BTreeMap<String, usize> = modules
        .iter()
        .flat_map(|(_, _, text)| entries(text))
        .map(|entry| (entry.name.to_owned(), entry.barriers()))
        .collect();
    assert_eq!(found, expected, "left: in the PTX, right: in the source");
}

#[test]
fn called_functions_have_the_barriers_of_their_source() {
    let source = facade_source();
    let (own, facade) = (BTreeMap::new(), BTreeMap::new());
    let called: BTreeMap<&str, usize> = bodies(&source)
        .iter()
        .filter(|(at, ..)| is_called(&source, *at))
        .map(|(_, name, body)| (*name, barriers_in(body, &own, &facade)))
        .collect();
    assert_eq!(called.len(), 1, "{called:?}");
    for (_, path, text) in modules() {
        for (name, count) in &called {
            // A body begins with its brace; what ends with a semicolon only declares.
            let found: Vec<usize> = text
                .split("\n.func ")
                .skip(1)
                .filter(|function| {
                    function
                        .lines()
                        .next()
                        .is_some_and(|line| line.contains(name))
                })
                .filter_map(|function| Some(function.split_once("\n{")?.1.split_once("\n}")?.0))
                .map(|body| body.matches("bar.sync").count())
                .collect();
            assert!(!found.is_empty(), "{name} in {}", path.display());
            assert!(
                found.iter().all(|found| found == count),
                "{name} in {}: {found:?}",
                path.display()
            );
        }
    }
}

/// The simulator cannot show a memory order that is too weak: it executes in one order.
#[test]
fn the_grid_barrier_releases_and_acquires_at_gpu_scope() {
    let modules = modules();
    for name in ["grid_sync_rounds", "grid_sync_exchange", "grid_sync_skewed"] {
        let all: Vec<_> = modules
            .iter()
            .flat_map(|(_, _, text)| entries(text))
            .collect();
        let entry = all.iter().find(|entry| entry.name == name).expect(name);
        assert_eq!(entry.count("atom.release.gpu.global.add.u32"), 1, "{name}");
        assert_eq!(entry.count("ld.acquire.gpu.global.b32"), 1, "{name}");
    }
}

#[test]
fn the_source_is_counted_as_meant() {
    let source = "fn helper(x: u32) { if x > 0 { x.helper(1); sync_threads(); } }\n\
        kernel! { pub A = unsafe fn alone(n: u32) { sync_threads(); // sync_threads()\n } }\n\
        kernel! { pub B = unsafe fn calls(n: u32) { helper(n); helper(n); sync_threads_or(1); } }\n\
        kernel! { pub C in sm_90 = unsafe fn halves(n: u32) { cluster::sync(); \
        cluster::barrier_arrive_relaxed(); cluster::barrier_wait(); } }\n\
        kernel! { pub D = unsafe fn grid(n: u32) { grid.sync(); helper(n); } }\n\
        kernel! { pub E = unsafe fn facade(n: u32) { gather_reduce(n); } }\n\
        reduction_kernels! { pub HANDLE = unsafe fn name<O, T>(n: u64) { helper(n); sync(n); }\n\
        REDUCE_SHUFFLE_SUM_I32 reduce_shuffle_sum_i32 Sum i32; }\n";
    let counts = barriers_in_source(source, &facade());
    assert_eq!((counts["alone"], counts["calls"]), (1, 3));
    assert_eq!((counts["halves"], counts["grid"]), (4, 3));
    // That of a block of whole warps; another block's is in a function that is called.
    assert_eq!(counts["facade"], 1);
    assert_eq!(counts["reduce_shuffle_sum_i32"], 3);
}
