//! Variable declarations, formal parameters and initialisers (PTX ISA 5.4).

use super::super::ast::{Initial, Operand, Space, Type, Variable};
use super::super::lexer::Kind;
use super::{Parsed, Parser};

/// What stands between the state space and the name.
struct Declared {
    ty: Type,
    align: Option<u64>,
    /// 2 or 4 for `.v2`, `.v4`, otherwise 1.
    vector: u64,
}

/// An initialiser longer than this is refused (its variable would be larger than 256 MiB).
const MAX_ELEMENTS: u64 = 1 << 25;

impl Parser<'_> {
    /// `.global .align 4 .u32 a = 1, b[2];` at the state space.
    pub(super) fn variables(&mut self, external: bool, out: &mut Vec<Variable>) -> Parsed<()> {
        let space = match self.word() {
            ".global" => Space::Global,
            ".const" => Space::Constant,
            ".shared" | ".shared::cta" => Space::Shared,
            ".local" => Space::Local,
            ".param" => Space::Parameter,
            _ => return Err(self.unexpected("a state space")),
        };
        self.next += 1;
        let declared = self.declared()?;
        loop {
            out.push(self.declarator(space, &declared, external)?);
            if self.take(b';') {
                return Ok(());
            }
            self.expect(b',')?;
        }
    }

    /// A formal parameter after `.param` or `.reg`.
    pub(super) fn formal(&mut self, space: Space) -> Parsed<Variable> {
        let declared = self.declared()?;
        self.declarator(space, &declared, false)
    }

    /// `.attribute(.managed)` and the like.
    pub(super) fn attributes(&mut self) -> Parsed<()> {
        while self.take_directive(".attribute") {
            self.expect(b'(')?;
            while self.peek().is_some() && !self.take(b')') {
                self.next += 1;
            }
        }
        Ok(())
    }

    /// Alignment, `.ptr` with its own space and alignment, vector and type, in any order.
    fn declared(&mut self) -> Parsed<Declared> {
        let (mut ty, mut align, mut vector, mut pointer) = (None, None, 1, false);
        loop {
            self.attributes()?;
            if self.kind() != Some(Kind::Directive) {
                break;
            }
            let word = self.word();
            match word {
                ".align" => {
                    self.next += 1;
                    let value = self.unsigned()?;
                    if !value.is_power_of_two() || value > 1 << 20 {
                        self.next -= 1;
                        return Err(self.unexpected("an alignment that is a power of two"));
                    }
                    // After `.ptr` it is the pointee's.
                    if !pointer {
                        align = Some(value);
                    }
                    continue;
                }
                ".ptr" => pointer = true,
                ".global" | ".const" | ".shared" | ".local" | ".generic" if pointer => {}
                ".v2" => vector = 2,
                ".v4" => vector = 4,
                _ => match scalar(&word[1..]) {
                    Some(scalar) => ty = Some(scalar),
                    None => {
                        return Err(self.unexpected("a type that variables can have"));
                    }
                },
            }
            self.next += 1;
        }
        match ty {
            Some(ty) => Ok(Declared { ty, align, vector }),
            None => Err(self.unexpected("a type")),
        }
    }

    /// Name, dimensions and initialiser.
    fn declarator(
        &mut self,
        space: Space,
        declared: &Declared,
        external: bool,
    ) -> Parsed<Variable> {
        let line = self.line();
        let name = self.identifier()?.to_owned();
        let mut dimensions: Vec<Option<u64>> = Vec::new();
        while self.take(b'[') {
            if self.take(b']') {
                dimensions.push(None);
                continue;
            }
            dimensions.push(Some(self.unsigned()?));
            self.expect(b']')?;
        }
        if declared.vector > 1 {
            dimensions.push(Some(declared.vector));
        }
        let size = bytes_of(declared.ty).max(1);
        let mut initial = Vec::new();
        if self.take(b'=') {
            self.initialiser(declared.ty, &dimensions, &mut initial, 0)?;
        }
        let unsized_first = dimensions.first() == Some(&None);
        if dimensions.iter().skip(1).any(Option::is_none) {
            return Err(self.note(
                line,
                format!("`{name}`: only the first dimension may be empty"),
            ));
        }
        let bytes = if unsized_first && initial.is_empty() {
            None
        } else if unsized_first {
            Some(initialised_bytes(declared.ty, &initial))
        } else {
            let bytes = dimensions
                .iter()
                .try_fold(size, |product, n| product.checked_mul(n.unwrap_or(1)))
                .filter(|bytes| *bytes <= 1 << 40);
            match bytes {
                Some(bytes) => Some(bytes),
                None => return Err(self.note(line, format!("`{name}` is too large"))),
            }
        };
        let own = size.saturating_mul(declared.vector);
        let align = declared.align.unwrap_or(own);
        if bytes.is_some_and(|bytes| initialised_bytes(declared.ty, &initial) > bytes) {
            return Err(self.note(
                line,
                format!("`{name}` has more initial values than elements"),
            ));
        }
        let ty = declared.ty;
        Ok(Variable {
            name,
            space,
            ty,
            align,
            bytes,
            external,
            initial,
            line,
        })
    }

    /// A value or a braced list; inner lists fill one row each.
    fn initialiser(
        &mut self,
        ty: Type,
        dimensions: &[Option<u64>],
        out: &mut Vec<Initial>,
        depth: usize,
    ) -> Parsed<()> {
        if !self.take(b'{') {
            let value = self.element(ty)?;
            out.push(value);
            return Ok(());
        }
        if depth > dimensions.len() {
            return Err(self.unexpected("an initialiser that is nested like the array"));
        }
        let row = dimensions
            .iter()
            .skip(depth + 1)
            .try_fold(1u64, |product, n| product.checked_mul(n.unwrap_or(1)));
        if self.take(b'}') {
            return Ok(());
        }
        loop {
            let nested = self.is(b'{');
            let start = out.len() as u64;
            self.initialiser(ty, dimensions, out, depth + 1)?;
            // A later row begins at its own place, whatever the one before gave.
            if nested && self.is(b',') {
                let end = row
                    .and_then(|row| start.checked_add(row))
                    .unwrap_or(u64::MAX);
                if end > MAX_ELEMENTS {
                    return Err(self.unexpected("a smaller initialiser"));
                }
                while (out.len() as u64) < end {
                    out.push(Initial::Bits(0));
                }
            }
            if self.take(b'}') {
                return Ok(());
            }
            self.expect(b',')?;
            if self.take(b'}') {
                return Ok(());
            }
        }
    }

    fn element(&mut self, ty: Type) -> Parsed<Initial> {
        let line = self.line();
        if self.kind() == Some(Kind::Word) {
            let mut name = self.identifier()?;
            let generic = name == "generic" && self.take(b'(');
            if generic {
                name = self.identifier()?;
                self.expect(b')')?;
            }
            let offset = self.sum()?.unwrap_or(0);
            return Ok(Initial::Address {
                name: name.to_owned(),
                offset,
                generic,
            });
        }
        if self.kind() == Some(Kind::Number) && self.is_after(b'(') && bytes_of(ty) == 1 {
            return self.address_bytes();
        }
        let negative = self.take(b'-');
        let value = match (self.number(negative)?, ty) {
            (Operand::Integer(value), ty) if !matches!(ty, Type::F32 | Type::F64) => value,
            (Operand::Float32(bits), Type::F64) => f64::from(f32::from_bits(bits)).to_bits(),
            (Operand::Float32(bits), Type::F32 | Type::B32 | Type::U32 | Type::S32) => {
                u64::from(bits)
            }
            (Operand::Float64(bits), Type::F32) => {
                // The literal's value, rounded to the element's type.
                #[expect(clippy::cast_possible_truncation, reason = "rounds, as PTX says")]
                let value = f64::from_bits(bits) as f32;
                u64::from(value.to_bits())
            }
            (Operand::Float64(bits), Type::F64 | Type::B64 | Type::U64 | Type::S64) => bits,
            _ => return Err(self.note(line, "this literal does not fit the type".to_owned())),
        };
        let width = bytes_of(ty) * 8;
        let mask = if width >= 64 {
            u64::MAX
        } else {
            (1 << width) - 1
        };
        Ok(Initial::Bits(value & mask))
    }

    /// An address spread over eight bytes: `0xFF(x), 0xFF00(x), …` (PTX ISA 5.4.4, 7.1 on).
    fn address_bytes(&mut self) -> Parsed<Initial> {
        let mut found: Option<Initial> = None;
        for byte in 0..8 {
            if byte > 0 {
                self.expect(b',')?;
            }
            if self.unsigned()? != 0xff << (8 * byte) {
                self.next -= 1;
                return Err(self.unexpected("the next byte of the address"));
            }
            self.expect(b'(')?;
            let mut name = self.identifier()?;
            let generic = name == "generic" && self.take(b'(');
            if generic {
                name = self.identifier()?;
                self.expect(b')')?;
            }
            let offset = self.sum()?.unwrap_or(0);
            self.expect(b')')?;
            let part = Initial::Address {
                name: name.to_owned(),
                offset,
                generic,
            };
            if found.get_or_insert_with(|| part.clone()) != &part {
                return Err(self.unexpected("the same address in all eight bytes"));
            }
        }
        found.ok_or_else(|| self.unexpected("an address"))
    }
}

/// Bytes that the given elements fill; an address fills 8 in a byte array.
fn initialised_bytes(ty: Type, initial: &[Initial]) -> u64 {
    let size = bytes_of(ty).max(1);
    let each = |element: &Initial| match element {
        Initial::Bits(_) => size,
        Initial::Address { .. } => size.max(if size == 1 { 8 } else { 1 }),
    };
    initial.iter().map(each).sum()
}

/// A fundamental type by its name without the dot.
pub(super) fn scalar(name: &str) -> Option<Type> {
    Type::ALL.iter().copied().find(|ty| ty.name() == name)
}

/// Size of a type in bytes; 0 for a predicate.
pub(super) fn bytes_of(ty: Type) -> u64 {
    ty.bits() / 8
}
