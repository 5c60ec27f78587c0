//! The syntax tree to programs: one per entry, with every function it reaches.

mod builder;
mod call;
mod check;
mod control;
mod decode;
mod frame;
mod function;
mod in_place;
mod operands;
mod pressure;
mod recursion;
mod special;
mod variables;

use std::collections::HashSet;

use super::ast::Function;
use crate::LoadError;
use crate::program::{DeviceVariable, Program};
use builder::Builder;
use variables::Symbols;

/// A module that is ready to run.
#[derive(Debug, Clone)]
pub struct LoadedText {
    /// One program per entry, in the order of the text.
    pub programs: Vec<Program>,
    /// Variables in global and constant memory; relocations index them.
    pub variables: Vec<DeviceVariable>,
}

/// Parses and lowers a module. The error lists every problem found in the text, or, where the
/// text is well-formed, every one found in code that an entry reaches.
pub fn load(text: &str) -> Result<LoadedText, LoadError> {
    let module = super::parse(text).map_err(|problems| LoadError { problems })?;
    let mut problems = Problems::default();
    let symbols = Symbols::new(&module, &mut problems);
    let mut programs = Vec::new();
    for entry in module.functions.iter().filter(|function| function.entry) {
        programs.push(program(entry, &symbols, &mut problems));
    }
    if !problems.list.is_empty() {
        problems.list.sort_by_key(|(line, _)| *line);
        let problems = problems
            .list
            .into_iter()
            .map(|(_, message)| message)
            .collect();
        return Err(LoadError { problems });
    }
    Ok(LoadedText {
        programs,
        variables: symbols.variables,
    })
}

fn program<'a>(entry: &'a Function, symbols: &'a Symbols<'a>, problems: &mut Problems) -> Program {
    recursion::report(entry, symbols, problems);
    let mut builder = Builder::new(symbols, problems, &entry.name);
    let mut ranges = vec![builder.function(entry)];
    while let Some(function) = builder.queue.pop() {
        ranges.push(builder.function(function));
    }
    builder.finish();
    builder.directives(entry);
    let pressure = pressure::registers(&builder.program, &builder.widths, &ranges);
    let limit = builder
        .directive(entry, "maxnreg")
        .map_or(255, |values| values[0]);
    let mut program = builder.program;
    program.registers_per_thread = pressure.max(16).next_multiple_of(8).min(limit);
    program
}

impl Builder<'_> {
    /// Values of a performance directive, padded with ones to three.
    fn directive(&self, entry: &Function, name: &str) -> Option<[u32; 3]> {
        let (_, values) = entry
            .directives
            .iter()
            .find(|(directive, _)| directive == name)?;
        let at = |index: usize| values.get(index).copied().unwrap_or(1);
        Some([at(0), at(1), at(2)])
    }

    fn directives(&mut self, entry: &Function) {
        self.program.required_block = self.directive(entry, "reqntid");
        self.program.max_block = self.directive(entry, "maxntid");
        self.program.required_cluster = self.directive(entry, "reqnctapercluster");
        self.program.explicit_cluster = self.directive(entry, "explicitcluster").is_some();
        self.program.max_cluster_blocks = self
            .directive(entry, "maxclusterrank")
            .map(|[blocks, ..]| blocks);
        if self.directive(entry, "blocksareclusters").is_some() {
            let message = "`.blocksareclusters` (a grid counted in clusters) is not supported";
            self.problems.add(entry.line, message, "");
        }
    }
}

/// Problems with their lines; the same one, met again through another entry, counts once.
#[derive(Default)]
pub(super) struct Problems {
    list: Vec<(u32, String)>,
    seen: HashSet<String>,
}

impl Problems {
    /// Notes a problem; `text` is the statement, if there is one.
    fn add(&mut self, line: u32, message: &str, text: &str) {
        let separator = if text.is_empty() { "" } else { ": " };
        let message = format!("line {line}: {message}{separator}{text}");
        if self.seen.insert(message.clone()) {
            self.list.push((line, message));
        }
    }
}
