//! What only the operands tell of an instruction: lengths, widths, a barrier's count.

use super::super::ast::{Space, Statement};
use super::builder::Builder;
use super::frame::Frame;
use crate::program::{Action, Operand, VoteMode};

impl<'a> Builder<'a> {
    /// What only the operands tell: vector lengths, sign extension, a barrier's count.
    pub(super) fn check(
        &mut self,
        frame: &Frame<'a>,
        statement: &Statement,
        action: &mut Action,
        destinations: &[Operand],
        sources: &[Operand],
    ) -> Result<(), String> {
        match action {
            Action::Load(access) => {
                if destinations.len() != usize::from(access.count) {
                    return Err(format!(
                        "{} destinations are required, {} are given",
                        access.count,
                        destinations.len()
                    ));
                }
                for destination in destinations {
                    let Operand::Register(register) = destination else {
                        continue;
                    };
                    let bits = self.widths.get(*register as usize).copied().unwrap_or(0);
                    let bytes = bits / 8;
                    if bytes < access.bytes {
                        return Err(format!(
                            "a register of {bits} bits cannot take {} bytes",
                            access.bytes
                        ));
                    }
                    if access.sign_extend_to > 0 {
                        access.sign_extend_to = if bytes > access.bytes { bytes } else { 0 };
                    }
                }
            }
            Action::Store(access) => {
                if sources.len() != usize::from(access.count) + 1 {
                    return Err(format!(
                        "{} values are required, {} are given",
                        access.count,
                        sources.len() - 1
                    ));
                }
                if access.space == Space::Constant
                    || (access.space == Space::Parameter && frame.function.entry)
                {
                    return Err("constant memory and kernel parameters are read-only".to_owned());
                }
            }
            Action::Barrier(operation) => {
                let reduces = statement.modifiers.iter().any(|modifier| modifier == "red");
                operation.has_count = sources.len() - usize::from(reduces) == 2;
            }
            _ => {}
        }
        Ok(())
    }
}

/// The place for a negation that the action itself knows.
pub(super) fn negation(action: &mut Action) -> Option<&mut bool> {
    match action {
        Action::Barrier(operation) => Some(&mut operation.negated),
        Action::Vote(
            VoteMode::All { negated }
            | VoteMode::Any { negated }
            | VoteMode::Uniform { negated }
            | VoteMode::Ballot { negated },
        ) => Some(negated),
        _ => None,
    }
}

/// How many low bits of an integer immediate count.
pub(super) fn immediate_bits(action: &Action, modifiers: &[String], source: usize) -> u32 {
    match action {
        Action::Store(access) | Action::Atomic(access, _) => u32::from(access.bytes) * 8,
        Action::Match { bits, .. } if source == 0 => u32::from(*bits),
        Action::Compute(_) => {
            let width = |modifier: &String| match modifier.get(1..) {
                Some("64") => 64,
                _ => 32,
            };
            modifiers.iter().map(width).max().unwrap_or(64)
        }
        Action::ToGeneric(_) | Action::FromGeneric(_) | Action::IsSpace(_) => 64,
        _ => 32,
    }
}
