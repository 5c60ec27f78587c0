//! Module-scope symbols, and the variables that live in device memory with their initial bytes.

use std::collections::HashMap;

use super::super::ast::{Function, Initial, Item, Module, Space, Variable};
use super::Problems;
use crate::program::DeviceVariable;

/// What module scope declares.
pub(super) struct Symbols<'a> {
    pub(super) functions: HashMap<&'a str, &'a Function>,
    /// `.shared` and `.local` variables at module scope.
    pub(super) scoped: HashMap<&'a str, &'a Variable>,
    /// `.global` and `.const` variables: index of the device variable.
    pub(super) device: HashMap<&'a str, u32>,
    /// The same for those declared in a body: function, name.
    pub(super) in_body: HashMap<(&'a str, &'a str), u32>,
    pub(super) variables: Vec<DeviceVariable>,
    /// State space of each device variable.
    pub(super) spaces: Vec<Space>,
    /// Why a device variable must not be used, if so. It only matters to code that does.
    pub(super) unusable: HashMap<u32, String>,
}

impl<'a> Symbols<'a> {
    pub(super) fn new(module: &'a Module, problems: &mut Problems) -> Self {
        let mut symbols = Self {
            functions: HashMap::new(),
            scoped: HashMap::new(),
            device: HashMap::new(),
            in_body: HashMap::new(),
            variables: Vec::new(),
            spaces: Vec::new(),
            unusable: HashMap::new(),
        };
        let mut pending = Vec::new();
        for variable in &module.variables {
            if matches!(variable.space, Space::Global | Space::Constant) {
                let known = symbols.device.get(variable.name.as_str()).copied();
                // A declaration `.extern` may accompany the definition.
                if known.is_some() && variable.external {
                    continue;
                }
                let index = symbols.add(variable, known, problems);
                symbols.device.insert(&variable.name, index);
                pending.push((index, None, variable));
            } else if symbols.scoped.insert(&variable.name, variable).is_some()
                && !variable.external
            {
                problems.add(
                    variable.line,
                    &format!("`{}` is defined twice", variable.name),
                    "",
                );
            }
        }
        for function in &module.functions {
            if symbols.functions.insert(&function.name, function).is_some() {
                problems.add(
                    function.line,
                    &format!("`{}` is defined twice", function.name),
                    "",
                );
            }
            for item in &function.body {
                let Item::Variable(variable) = item else {
                    continue;
                };
                if matches!(variable.space, Space::Global | Space::Constant) {
                    let index = symbols.add(variable, None, problems);
                    symbols
                        .in_body
                        .insert((&function.name, &variable.name), index);
                    pending.push((index, Some(function.name.as_str()), variable));
                }
            }
        }
        for (index, scope, variable) in pending {
            symbols.initialise(index, scope, variable);
        }
        symbols
    }

    fn add(&mut self, variable: &Variable, known: Option<u32>, problems: &mut Problems) -> u32 {
        let device = DeviceVariable {
            name: variable.name.clone(),
            bytes: variable.bytes.unwrap_or(0),
            align: variable.align,
            initial: Vec::new(),
            relocations: Vec::new(),
        };
        if let Some(index) = known {
            if !self.unusable.contains_key(&index) {
                problems.add(
                    variable.line,
                    &format!("`{}` is defined twice", variable.name),
                    "",
                );
            }
            self.unusable.remove(&index);
            self.variables[index as usize] = device;
            return index;
        }
        let index = u32::try_from(self.variables.len()).unwrap_or(u32::MAX);
        if variable.external {
            let message = format!(
                "`{}` is `.extern` and not defined in this module",
                variable.name
            );
            self.unusable.insert(index, message);
        }
        self.variables.push(device);
        self.spaces.push(variable.space);
        index
    }

    /// Lays out the initial bytes and the addresses among them.
    fn initialise(&mut self, index: u32, scope: Option<&'a str>, variable: &Variable) {
        let size = usize::try_from(variable.ty.bits() / 8).unwrap_or(0).max(1);
        let mut bytes = Vec::with_capacity(variable.initial.len() * size);
        let mut relocations = Vec::new();
        for element in &variable.initial {
            match element {
                Initial::Bits(bits) => {
                    let raw = u128::from(*bits).to_le_bytes();
                    bytes.extend_from_slice(&raw[..size.min(16)]);
                }
                Initial::Address { name, offset, .. } => {
                    let inner = scope.and_then(|f| self.in_body.get(&(f, name.as_str())));
                    let target = inner.or_else(|| self.device.get(name.as_str())).copied();
                    match target {
                        Some(target) if size == 8 || size == 1 => {
                            relocations.push((bytes.len() as u64, target, *offset));
                        }
                        _ => {
                            let message = format!(
                                "`{}` is initialised with the address of `{name}`, which is not a \
                                 variable in global or constant memory, or not in 64 bits",
                                variable.name
                            );
                            self.unusable.insert(index, message);
                        }
                    }
                    bytes.extend_from_slice(&[0; 8][..if size == 1 { 8 } else { size.min(8) }]);
                }
            }
        }
        let device = &mut self.variables[index as usize];
        device.initial = bytes;
        device.relocations = relocations;
    }

    /// Why code may not use a device variable, or one that its initial addresses lead to.
    pub(super) fn refusal(&self, index: u32) -> Option<&str> {
        let mut seen = vec![index];
        let mut next = 0;
        while let Some(&index) = seen.get(next) {
            next += 1;
            if let Some(message) = self.unusable.get(&index) {
                return Some(message);
            }
            for &(_, target, _) in &self.variables[index as usize].relocations {
                if !seen.contains(&target) {
                    seen.push(target);
                }
            }
        }
        None
    }
}
