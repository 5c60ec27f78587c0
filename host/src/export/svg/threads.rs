//! Threads of blocks as a figure: a cell per thread, coloured by warp, with the completion time
//! where there is one and the lane otherwise; and every warp's 32 lanes, idle ones hollow.

use super::{
    FAINT_INK, INK,
    element::{Element, shorten, text, text_width},
    legend::{appearance, is_light},
};
use crate::{
    export::{
        layout::{figures::extents, footnotes::outcome, style::printable},
        threads::{shape, threads},
    },
    hierarchy::WARP_SIZE,
    report::{RecordData, Report, Status, ThreadRecord, Times},
};

const LEFT: f64 = 24.0;
const CELL: f64 = 22.0;
/// Side of a lane's square in the strips.
const LANE: f64 = 9.0;
/// Cells of one figure; it says how many more there are.
const MOST: usize = 8192;

/// The figure of a report that has records of threads.
pub(super) fn render(report: &Report) -> String {
    let mut canvas = Canvas {
        marks: Element::new("g"),
        width: 560.0,
        y: 84.0,
    };
    let mut room = MOST;
    for (index, row) in report.rows.iter().enumerate() {
        canvas.heading(&format!(
            "grid {}, block {}",
            extents(row.grid, true),
            shape(row.block)
        ));
        if let Status::Skipped { reason } | Status::Failed { reason, .. } = &row.status {
            let line = format!("{}: {}", outcome(&row.status), printable(reason));
            canvas.line(&shorten(&line, 120));
            continue;
        }
        let threads = threads(report, index);
        let slice = |thread: &ThreadRecord| (thread.block_id, thread.thread_z);
        let several = threads.last().is_some_and(|last| slice(last) != (0, 0));
        for slice in threads.chunk_by(|a, b| slice(a) == slice(b)) {
            if slice.len() > room {
                canvas.line(
                    "Further blocks are left out of this figure; the JSON report has them all.",
                );
                room = 0;
                break;
            }
            room -= slice.len();
            canvas.slice(slice, several);
        }
        let first_block = |thread: &&&ThreadRecord| thread.block_id == 0;
        let block: Vec<_> = threads.iter().filter(first_block).copied().collect();
        canvas.lanes(&block);
    }
    let clocks = report.records.iter().any(|record| {
        matches!(&record.data, RecordData::Thread(thread) if thread.completion_clocks.is_some())
    });
    let mut facts = vec![printable(&report.device.name)];
    let title = if clocks {
        if report.device.times == Times::Modelled {
            facts.push("modelled by the simulator, not measured".to_owned());
        }
        facts.push("one colour a warp, with completion times in clocks (hexadecimal)".to_owned());
        "Completion times of threads"
    } else {
        facts.push("one colour a warp, with lanes".to_owned());
        "Warps and lanes of the threads of a block"
    };
    let subtitle = facts.join(" · ");
    let widest = f64::max(text_width(title, 20.0), text_width(&subtitle, 13.0));
    let width = canvas.width.max(LEFT + widest) + LEFT;
    let height = canvas.y + 12.0;
    Element::new("svg")
        .attribute("xmlns", "http://www.w3.org/2000/svg")
        .number("width", width)
        .number("height", height)
        .attribute("viewBox", &format!("0 0 {width} {height}"))
        .attribute("font-family", "sans-serif")
        .attribute("role", "img")
        .attribute("aria-label", &format!("{title}. {subtitle}"))
        .child(Element::new("title").text(title))
        .child(
            Element::new("rect")
                .attribute("width", "100%")
                .attribute("height", "100%")
                .attribute("fill", "#ffffff"),
        )
        .child(text(LEFT, 34.0, 20.0, INK, "start", title).attribute("font-weight", "bold"))
        .child(text(LEFT, 57.0, 13.0, FAINT_INK, "start", &subtitle))
        .child(canvas.marks)
        .document()
}

/// What has been drawn, from the top down.
struct Canvas {
    marks: Element,
    width: f64,
    y: f64,
}

impl Canvas {
    fn heading(&mut self, content: &str) {
        self.y += 14.0;
        let line = text(LEFT, self.y, 14.0, INK, "start", content);
        self.marks.push(line.attribute("font-weight", "bold"));
        self.width = self.width.max(LEFT + text_width(content, 14.0));
        self.y += 10.0;
    }

    fn line(&mut self, content: &str) {
        self.y += 12.0;
        self.marks
            .push(text(LEFT, self.y, 12.0, FAINT_INK, "start", content));
        self.width = self.width.max(LEFT + text_width(content, 12.0));
        self.y += 8.0;
    }

    fn name(&mut self, first: &ThreadRecord) {
        self.line(&format!(
            "block ({}, {}, {}), slice {}{}",
            first.block_x,
            first.block_y,
            first.block_z,
            first.thread_z,
            first.sm.map_or_else(String::new, |sm| format!(", SM {sm}"))
        ));
    }

    /// One slice of one block; where there are several, it says which.
    fn slice(&mut self, threads: &[&ThreadRecord], several: bool) {
        let Some(first) = threads.first() else { return };
        if several {
            self.name(first);
        }
        let labels: Vec<String> = threads.iter().map(|thread| label(thread)).collect();
        let widest = labels
            .iter()
            .map(|label| text_width(label, 9.0))
            .fold(0.0, f64::max);
        let cell = CELL.max(widest + 4.0);
        let mut group = Element::new("g").attribute("class", "slice");
        let mut bottom = self.y;
        for (thread, label) in threads.iter().zip(&labels) {
            let x = LEFT + f64::from(thread.thread_x) * cell;
            let y = self.y + f64::from(thread.thread_y) * CELL;
            (self.width, bottom) = (self.width.max(x + cell), f64::max(bottom, y + CELL));
            let fill = appearance(thread.warp as usize).color;
            let ink = if is_light(fill) { INK } else { "#ffffff" };
            let square = Element::new("rect")
                .attribute("class", "thread")
                .number("x", x)
                .number("y", y)
                .number("width", cell)
                .number("height", CELL)
                .attribute("fill", fill)
                .attribute("stroke", "#ffffff");
            group.push(square.child(Element::new("title").text(&tooltip(thread))));
            let middle = (x + cell / 2.0, y + CELL / 2.0 + 3.0);
            group.push(text(middle.0, middle.1, 9.0, ink, "middle", label));
        }
        self.marks.push(group);
        self.y = bottom + 6.0;
    }

    /// Each warp of a block with its 32 lanes.
    fn lanes(&mut self, block: &[&ThreadRecord]) {
        for warp in block.chunk_by(|a, b| a.warp == b.warp) {
            self.y += 4.0;
            let (number, used) = (warp[0].warp, warp.len() as u32);
            let color = appearance(number as usize).color;
            let mut group = Element::new("g").attribute("class", "warp");
            for lane in 0..WARP_SIZE {
                let fill = if lane < used { color } else { "none" };
                let square = Element::new("rect")
                    .attribute("class", if lane < used { "lane" } else { "idle" })
                    .number("x", LEFT + f64::from(lane) * LANE)
                    .number("y", self.y)
                    .number("width", LANE - 1.5)
                    .number("height", LANE - 1.5)
                    .attribute("fill", fill)
                    .attribute("stroke", color);
                group.push(square);
            }
            let idle = match WARP_SIZE - used {
                0 => String::new(),
                1 => ", 1 lane idle".to_owned(),
                idle => format!(", {idle} lanes idle"),
            };
            let plural = if used == 1 { "" } else { "s" };
            let content = format!("warp {number}: {used} thread{plural}{idle}");
            let x = LEFT + f64::from(WARP_SIZE) * LANE + 10.0;
            group.push(text(x, self.y + LANE - 1.0, 11.0, INK, "start", &content));
            self.marks.push(group);
            self.y += LANE + 2.0;
        }
        self.y += 10.0;
    }
}

fn label(thread: &ThreadRecord) -> String {
    match thread.completion_clocks {
        Some(clocks) => format!("{clocks:x}"),
        None => thread.lane.to_string(),
    }
}

fn tooltip(thread: &ThreadRecord) -> String {
    let mut text = format!(
        "thread ({}, {}, {}): number {} in its block, warp {}, lane {}",
        thread.thread_x,
        thread.thread_y,
        thread.thread_z,
        thread.thread_id,
        thread.warp,
        thread.lane
    );
    if let (Some(clock), Some(completion)) = (thread.clock, thread.completion_clocks) {
        text += &format!(", clock {clock}, completion {completion}");
    }
    text
}
