//! Lanes: how a register's 64 bits are a value of a type, and whole-warp functions from per-lane
//! expressions.

/// A type that a lane's bits can be read as; narrower values are in the low bits.
pub(super) trait Lane: Copy {
    /// Reads the low bits; the others are ignored.
    fn from_lane(bits: u64) -> Self;
    /// Zero-extends.
    fn to_lane(self) -> u64;
}

macro_rules! integer_lanes {
    ($($ty:ty as $unsigned:ty),*) => {$(
        impl Lane for $ty {
            #[inline(always)]
            fn from_lane(bits: u64) -> Self {
                bits as Self
            }
            #[inline(always)]
            fn to_lane(self) -> u64 {
                self as $unsigned as u64
            }
        }
    )*};
}

integer_lanes!(u8 as u8, u16 as u16, u32 as u32, u64 as u64);
integer_lanes!(i8 as u8, i16 as u16, i32 as u32, i64 as u64);

impl Lane for f32 {
    #[inline(always)]
    fn from_lane(bits: u64) -> Self {
        Self::from_bits(bits as u32)
    }
    #[inline(always)]
    fn to_lane(self) -> u64 {
        u64::from(self.to_bits())
    }
}

impl Lane for f64 {
    #[inline(always)]
    fn from_lane(bits: u64) -> Self {
        Self::from_bits(bits)
    }
    #[inline(always)]
    fn to_lane(self) -> u64 {
        self.to_bits()
    }
}

impl Lane for bool {
    #[inline(always)]
    fn from_lane(bits: u64) -> Self {
        bits & 1 != 0
    }
    #[inline(always)]
    fn to_lane(self) -> u64 {
        u64::from(self)
    }
}

/// `lanes!(|a: u32, b: u32| a.wrapping_add(b))`: a [`Compute`](crate::program::Compute) that does
/// this on every lane. The loop has a constant length and no bounds checks, so that it vectorises.
macro_rules! lanes {
    (|$($source:ident: $ty:ty),+| $body:expr) => {{
        let compute: $crate::program::Compute = |sources, destinations| {
            let ([$($source,)+ ..], [destination, ..]) = (sources, destinations) else {
                panic!("operands disagree with the decoded roles")
            };
            for lane in 0..$crate::program::WARP_SIZE {
                $(let $source = <$ty as $crate::isa::lanes::Lane>::from_lane($source[lane]);)+
                destination[lane] = $crate::isa::lanes::Lane::to_lane($body);
            }
        };
        compute
    }};
}

/// The same with a pair of results for two destinations.
macro_rules! two_lanes {
    (|$($source:ident: $ty:ty),+| $body:expr) => {{
        let compute: $crate::program::Compute = |sources, destinations| {
            let ([$($source,)+ ..], [first, second, ..]) = (sources, destinations) else {
                panic!("operands disagree with the decoded roles")
            };
            for lane in 0..$crate::program::WARP_SIZE {
                $(let $source = <$ty as $crate::isa::lanes::Lane>::from_lane($source[lane]);)+
                let (x, y) = $body;
                first[lane] = $crate::isa::lanes::Lane::to_lane(x);
                second[lane] = $crate::isa::lanes::Lane::to_lane(y);
            }
        };
        compute
    }};
}

/// `for_type!(ty; T in "u32" = u32, "s32" = i32 => body)`: the body with `T` for the named type.
/// `Err("")` if it is none of them: another row of the opcode may take it.
macro_rules! for_type {
    ($ty:expr; $T:ident in $($name:literal = $t:ty),+ => $body:expr) => {
        match $ty {
            $($name => {
                type $T = $t;
                Ok::<$crate::program::Compute, String>($body)
            })+
            _ => Err(String::new()),
        }
    };
    ($ty:expr; $T:ident in 16..64 => $body:expr) => {
        for_type!($ty; $T in "u16" = u16, "s16" = i16, "u32" = u32, "s32" = i32,
            "u64" = u64, "s64" = i64 => $body)
    };
    ($ty:expr; $T:ident in bits => $body:expr) => {
        for_type!($ty; $T in "b16" = u16, "b32" = u32, "b64" = u64 => $body)
    };
    ($ty:expr; $T:ident in 32..64 => $body:expr) => {
        for_type!($ty; $T in "u32" = u32, "s32" = i32, "u64" = u64, "s64" = i64 => $body)
    };
}

pub(super) use {for_type, lanes, two_lanes};
