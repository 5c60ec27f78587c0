//! Tests of the report's renderers and of its JSON schema.

mod chart;
mod compare;
mod csv;
mod formats;
mod json;
mod markdown;
mod reports;
mod schema;
mod svg;
mod table;
