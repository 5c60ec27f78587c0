//! What several formats share: figures, columns, footnotes and the curves behind chart and SVG.

pub(super) mod columns;
pub(super) mod curves;
pub(super) mod drawing;
pub(super) mod figures;
pub(super) mod finite;
pub(super) mod footnotes;
pub(super) mod style;
