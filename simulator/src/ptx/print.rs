//! The syntax tree as PTX text. `parse(print(tree))` gives the tree again, source text and, for
//! statements that shared a line with something else, line numbers aside.

use std::fmt::{self, Display, Formatter};

use super::ast::{Function, Initial, Item, Module, Operand, Space, Statement, Type, Variable};

fn separated<T: Display>(f: &mut Formatter<'_>, items: &[T]) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if index > 0 { ", " } else { "" })?;
    }
    Ok(())
}

fn offset(f: &mut Formatter<'_>, offset: i64) -> fmt::Result {
    if offset == 0 {
        Ok(())
    } else {
        write!(f, "+{offset}")
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Negated(name) => write!(f, "!{name}"),
            Self::Integer(value) => write!(f, "{}", value.cast_signed()),
            Self::Float32(bits) => write!(f, "0f{bits:08X}"),
            Self::Float64(bits) => write!(f, "0d{bits:016X}"),
            Self::Address { base, offset: by } => match base.as_ref() {
                Self::List(list) => {
                    f.write_str("[")?;
                    separated(f, list)?;
                    f.write_str("]")
                }
                base => {
                    write!(f, "[{base}")?;
                    offset(f, *by)?;
                    f.write_str("]")
                }
            },
            Self::Vector(list) => {
                f.write_str("{")?;
                separated(f, list)?;
                f.write_str("}")
            }
            Self::List(list) => {
                f.write_str("(")?;
                separated(f, list)?;
                f.write_str(")")
            }
            Self::Pair(a, b) => write!(f, "{a}|{b}"),
            Self::Sink => f.write_str("_"),
            Self::Sum(name, by) => write!(f, "{name}+{by}"),
        }
    }
}

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some((register, negated)) = &self.guard {
            write!(f, "@{}{register} ", if *negated { "!" } else { "" })?;
        }
        f.write_str(&self.opcode)?;
        for modifier in &self.modifiers {
            write!(f, ".{modifier}")?;
        }
        if !self.operands.is_empty() {
            f.write_str(" ")?;
            separated(f, &self.operands)?;
        }
        f.write_str(";")
    }
}

impl Space {
    fn directive(self) -> &'static str {
        match self {
            Self::Register => ".reg",
            Self::Constant => ".const",
            Self::Global => ".global",
            Self::Local => ".local",
            Self::Parameter => ".param",
            Self::Shared => ".shared",
            Self::SharedCluster => ".shared::cluster",
            Self::Generic => ".generic",
        }
    }
}

impl Display for Variable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let external = if self.external { ".extern " } else { "" };
        write!(f, "{external}{}", self.space.directive())?;
        write!(f, " .align {}", self.align)?;
        write!(f, " .{} {}", self.ty.name(), self.name)?;
        let size = (self.ty.bits() / 8).max(1);
        match self.bytes {
            None => f.write_str("[]")?,
            Some(bytes) if bytes == size => {}
            Some(bytes) => write!(f, "[{}]", bytes / size)?,
        }
        match self.initial.as_slice() {
            [] => Ok(()),
            [one] if self.bytes == Some(size) => {
                f.write_str(" = ")?;
                typed(f, self.ty, one)
            }
            all => {
                f.write_str(" = {")?;
                for (index, element) in all.iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    match element {
                        Initial::Address { .. } if size == 1 => address_bytes(f, element)?,
                        _ => typed(f, self.ty, element)?,
                    }
                }
                f.write_str("}")
            }
        }
    }
}

/// An initial value: bits of a float in hexadecimal, since a decimal might round.
fn typed(f: &mut Formatter<'_>, ty: Type, element: &Initial) -> fmt::Result {
    match (element, ty) {
        (Initial::Bits(bits), Type::F32) => write!(f, "0f{bits:08X}"),
        (Initial::Bits(bits), Type::F64) => write!(f, "0d{bits:016X}"),
        (element, _) => element.fmt(f),
    }
}

/// An address in a byte array, one byte at a time.
fn address_bytes(f: &mut Formatter<'_>, address: &Initial) -> fmt::Result {
    for byte in 0..8 {
        let comma = if byte > 0 { ", " } else { "" };
        write!(f, "{comma}{:#X}({address})", 0xffu64 << (8 * byte))?;
    }
    Ok(())
}

impl Display for Initial {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bits(bits) => write!(f, "{bits}"),
            Self::Address {
                name,
                offset: by,
                generic,
            } => {
                if *generic {
                    write!(f, "generic({name})")?;
                } else {
                    f.write_str(name)?;
                }
                offset(f, *by)
            }
        }
    }
}

/// Writes items at the lines they came from.
struct Lines<'a, 'b> {
    f: &'a mut Formatter<'b>,
    line: u32,
}

impl Lines<'_, '_> {
    /// Moves to the given line, if it is not past already.
    fn to(&mut self, line: u32) -> fmt::Result {
        while self.line < line {
            self.f.write_str("\n")?;
            self.line += 1;
        }
        Ok(())
    }

    fn formals(&mut self, formals: &[Variable]) -> fmt::Result {
        self.f.write_str("(")?;
        for (index, formal) in formals.iter().enumerate() {
            self.f.write_str(if index > 0 { ", " } else { "" })?;
            self.to(formal.line)?;
            formal.fmt(self.f)?;
        }
        self.f.write_str(")")
    }

    fn function(&mut self, function: &Function) -> fmt::Result {
        self.to(function.line)?;
        self.f
            .write_str(if function.entry { ".entry " } else { ".func " })?;
        if !function.returns.is_empty() {
            self.formals(&function.returns)?;
        }
        write!(self.f, " {} ", function.name)?;
        self.formals(&function.parameters)?;
        for (name, values) in &function.directives {
            write!(self.f, " .{name} ")?;
            separated(self.f, values)?;
        }
        self.f.write_str(" {")?;
        for item in &function.body {
            match item {
                Item::Registers { ty, names } => registers(self.f, *ty, names)?,
                Item::Variable(variable) => {
                    self.to(variable.line)?;
                    write!(self.f, " {variable};")?;
                }
                Item::Label(label) => write!(self.f, " {label}:")?,
                Item::BranchTargets { label, targets } => {
                    write!(self.f, " {label}: .branchtargets ")?;
                    separated(self.f, targets)?;
                    self.f.write_str(";")?;
                }
                Item::Statement(statement) => {
                    self.to(statement.line)?;
                    write!(self.f, "\t{statement}")?;
                }
            }
        }
        self.f.write_str(" }")
    }
}

fn registers(f: &mut Formatter<'_>, ty: Type, names: &[String]) -> fmt::Result {
    if names.is_empty() {
        return write!(f, " .reg .{} %none<0>;", ty.name());
    }
    write!(f, " .reg .{} ", ty.name())?;
    let counted = names[0].strip_suffix('0').filter(|prefix| {
        let is_numbered = |(n, name): (usize, &String)| {
            name.strip_prefix(*prefix)
                .is_some_and(|number| *number == n.to_string())
        };
        prefix.len() > 1 && names.iter().enumerate().all(is_numbered)
    });
    match counted {
        Some(prefix) => write!(f, "{prefix}<{}>", names.len())?,
        None => separated(f, names)?,
    }
    f.write_str(";")
}

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, ".version {}.{} ", self.version.0, self.version.1)?;
        write!(f, ".target {} .address_size 64 ", self.target)?;
        let mut lines = Lines { f, line: 1 };
        // Variables and functions interleave in the source; their lines say how.
        let mut variables = self.variables.as_slice();
        let mut functions = self.functions.as_slice();
        loop {
            match (variables, functions) {
                ([variable, rest @ ..], others)
                    if others
                        .first()
                        .is_none_or(|function| variable.line <= function.line) =>
                {
                    variables = rest;
                    lines.to(variable.line)?;
                    write!(lines.f, "{variable}; ")?;
                }
                (_, [function, rest @ ..]) => {
                    functions = rest;
                    lines.function(function)?;
                }
                _ => break,
            }
        }
        lines.f.write_str("\n")
    }
}
