//! Labels, branch targets and branch tables of one function.

use std::collections::HashMap;

use super::super::ast::{Function, Item, Statement};
use super::builder::Builder;
use super::frame::small;
use crate::program::Action;

pub(super) struct Flow<'a> {
    /// Instruction each label stands before.
    pub(super) labels: HashMap<&'a str, u32>,
    /// `.branchtargets` lists.
    tables: HashMap<&'a str, &'a [String]>,
    /// Branches: instruction, label, statement.
    branches: Vec<(usize, &'a str, &'a Statement)>,
}

impl<'a> Flow<'a> {
    pub(super) fn new(function: &'a Function) -> Self {
        let tables = function.body.iter().filter_map(|item| match item {
            Item::BranchTargets { label, targets } => Some((label.as_str(), targets.as_slice())),
            _ => None,
        });
        Self {
            labels: HashMap::new(),
            tables: tables.collect(),
            branches: Vec::new(),
        }
    }

    /// Remembers that the instruction at `index` names a label.
    pub(super) fn refer(&mut self, label: &'a str, index: usize, statement: &'a Statement) {
        self.branches.push((index, label, statement));
    }

    /// Fills in the targets once all labels are known.
    pub(super) fn resolve(self, builder: &mut Builder<'a>) {
        let mut made: HashMap<&str, u32> = HashMap::new();
        for (index, label, statement) in self.branches {
            let mut unknown = |label: &str| {
                let message = format!("label `{label}` does not stand in this function");
                builder
                    .problems
                    .add(statement.line, &message, &statement.text);
                0
            };
            match builder.program.instructions[index].action {
                Action::Branch(_) => {
                    let target = self.labels.get(label).copied();
                    let target = target.unwrap_or_else(|| unknown(label));
                    builder.program.instructions[index].action = Action::Branch(target);
                }
                Action::BranchIndexed(_) => {
                    let Some(targets) = self.tables.get(label) else {
                        unknown(label);
                        continue;
                    };
                    let table = *made.entry(label).or_insert_with(|| {
                        let find = |target: &String| {
                            let found = self.labels.get(target.as_str()).copied();
                            found.unwrap_or_else(|| unknown(target))
                        };
                        let table = targets.iter().map(find).collect();
                        builder.program.branch_tables.push(table);
                        small(builder.program.branch_tables.len() as u64 - 1)
                    });
                    builder.program.instructions[index].action = Action::BranchIndexed(table);
                }
                _ => {}
            }
        }
    }
}
