//! Reports about lanes, as text: who received from whom, votes, matches and sums.

mod collectives;
mod grid;
pub mod listing;

use crate::report::{LaneInput, LaneOperation, LaneRecord, RecordData, Report};

/// What the lanes of one warp got from one operation, or one step of it.
pub(in crate::export) struct Exchange<'a> {
    /// Index of the row.
    pub(in crate::export) row: usize,
    /// The lanes that took part, in order; at least one.
    pub(in crate::export) lanes: Vec<&'a LaneRecord>,
}

impl Exchange<'_> {
    /// What its lanes have in common: all but values, predicates and, with several masks, the mask.
    pub(in crate::export) fn common(&self) -> &LaneRecord {
        self.lanes[0]
    }
}

/// The exchanges of a report in the order of their records.
pub(in crate::export) fn exchanges(report: &Report) -> Vec<Exchange<'_>> {
    let mut exchanges: Vec<Exchange> = Vec::new();
    for record in &report.records {
        let RecordData::Lane(lane) = &record.data else {
            continue;
        };
        let key = |lane: &LaneRecord| {
            (
                lane.operation,
                lane.width,
                lane.argument,
                lane.step,
                lane.input,
            )
        };
        match exchanges.last_mut() {
            Some(last)
                if last.row == record.row
                    && last.lanes.last().is_some_and(|before| {
                        key(before) == key(lane) && before.lane < lane.lane
                    }) =>
            {
                last.lanes.push(lane);
            }
            _ => exchanges.push(Exchange {
                row: record.row,
                lanes: vec![lane],
            }),
        }
    }
    exchanges
}

/// What an operation does, in words; `i` is the lane.
pub(in crate::export) fn meaning(operation: LaneOperation) -> &'static str {
    match operation {
        LaneOperation::Idx => "idx: from the lane of the segment that the argument names",
        LaneOperation::Up => "up: from the lane that is so many below",
        LaneOperation::Down => "down: from the lane that is so many above",
        LaneOperation::Xor => "xor: from the lane whose number differs in these bits",
        LaneOperation::Vote => "votes",
        LaneOperation::Match => "match",
        LaneOperation::ReduceButterfly => "reduction by butterfly (xor)",
        LaneOperation::ReduceDown => "reduction by down",
        LaneOperation::Scan => "inclusive scan by up",
        LaneOperation::Broadcast => "broadcast of an elected lane's value",
    }
}

/// What is summed.
pub(in crate::export) fn of_what(input: Option<LaneInput>) -> &'static str {
    match input {
        Some(LaneInput::Ones) => "where each began with 1",
        Some(LaneInput::Lanes) => "where each began with its number",
        Some(LaneInput::Random) | None => "of random values",
    }
}

/// Lanes of a mask as ranges: `0-7, 13`; `none`.
pub(in crate::export) fn lanes_of(mask: u32) -> String {
    let lanes: Vec<u32> = (0..32).filter(|lane| mask >> lane & 1 != 0).collect();
    if lanes.is_empty() {
        return "none".to_owned();
    }
    let parts: Vec<String> = lanes
        .chunk_by(|a, b| a + 1 == *b)
        .map(|run| match run {
            [first, .., last] => format!("{first}-{last}"),
            [only] => only.to_string(),
            [] => String::new(),
        })
        .collect();
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::lanes_of;

    #[test]
    fn lanes_are_written_as_ranges() {
        assert_eq!(lanes_of(u32::MAX), "0-31");
        assert_eq!(lanes_of(0), "none");
        assert_eq!(lanes_of(0x8000_20ff), "0-7, 13, 31");
        assert_eq!(lanes_of(0b11), "0-1");
    }
}
