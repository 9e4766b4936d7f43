//! Opcodes of operations without operands in the code (JVMS 6.5).

pub(super) const LADD: u8 = 97;
pub(super) const DADD: u8 = 99;
pub(super) const LSUB: u8 = 101;
pub(super) const DSUB: u8 = 103;
pub(super) const LMUL: u8 = 105;
pub(super) const DMUL: u8 = 107;
pub(super) const LDIV: u8 = 109;
pub(super) const DDIV: u8 = 111;
pub(super) const LREM: u8 = 113;
pub(super) const DREM: u8 = 115;
pub(super) const LNEG: u8 = 117;
pub(super) const DNEG: u8 = 119;
pub(super) const LSHL: u8 = 121;
pub(super) const LSHR: u8 = 123;
pub(super) const IAND: u8 = 126;
pub(super) const LAND: u8 = 127;
pub(super) const IOR: u8 = 128;
pub(super) const LOR: u8 = 129;
pub(super) const IXOR: u8 = 130;
pub(super) const LXOR: u8 = 131;
pub(super) const I2L: u8 = 133;
pub(super) const L2I: u8 = 136;
pub(super) const L2D: u8 = 138;
pub(super) const F2D: u8 = 141;
