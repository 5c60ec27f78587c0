//! A resource of limited bandwidth that serves requests in order of their time.
//!
//! Time is cut into spans of [`SPAN`] cycles, each with a capacity. A request takes what is left
//! of the span it arrives in, then of the following ones. So it does not matter in which order
//! SMs a few hundred cycles apart hand in their requests: an early one that is handed in late
//! still finds the room that was free at its time.

/// Cycles per span.
const SPAN: u64 = 32;
/// Spans remembered: the longest queue is `SPAN * SPANS` cycles.
const SPANS: u64 = 1 << 14;
/// Work of one span is divided into this many units, so that shares are integers.
const SPAN_UNITS: u64 = 1 << 24;

#[derive(Clone, Copy)]
struct Span {
    /// Which span of time this entry describes; an entry of an earlier one is stale.
    index: u64,
    /// Where the search for room goes on if this span is full.
    next: u64,
    /// Units taken.
    used: u64,
}

/// One bandwidth server.
pub(super) struct Server {
    spans: Vec<Span>,
    /// Latest span that was touched since [`Server::restart`].
    newest: u64,
    /// Units one byte costs, times 2^16.
    units_per_byte: u64,
    /// Recent share of the capacity in use, times 2^16.
    load: u64,
    /// First span that `load` does not contain yet.
    load_until: u64,
}

/// How far behind the newest span the load is read, so that its requests have been handed in.
const LOAD_LAG: u64 = 8;
/// The load is an exponential average over about this many spans.
const LOAD_SPANS: u64 = 32;

impl Server {
    /// A server of `bytes_per_cycle`.
    pub(super) fn new(bytes_per_cycle: f64) -> Self {
        let units = SPAN_UNITS as f64 / (bytes_per_cycle * SPAN as f64) * 65536.0;
        let mut server = Self {
            spans: vec![
                Span {
                    index: 0,
                    next: 0,
                    used: 0
                };
                SPANS as usize
            ],
            newest: 0,
            units_per_byte: units.round().max(1.0) as u64,
            load: 0,
            load_until: 0,
        };
        server.restart();
        server
    }

    /// Time goes back to 0, with nothing queued.
    pub(super) fn restart(&mut self) {
        for (index, span) in self.spans.iter_mut().enumerate() {
            *span = Span {
                index: index as u64,
                next: index as u64 + 1,
                used: 0,
            };
        }
        self.newest = 0;
        self.load = 0;
        self.load_until = 0;
    }

    /// Recent share of the capacity in use, times 2^16.
    pub(super) fn load(&self) -> u64 {
        self.load
    }

    /// Takes the time for `bytes`, each costing `weight` / 2^16 of its usual time, no earlier than
    /// `now`. Returns the cycle at which the last byte is served.
    pub(super) fn serve(&mut self, now: u64, bytes: u64, weight: u64) -> u64 {
        let mut left = (((bytes * weight) >> 16) * self.units_per_byte) >> 16;
        let mut index = (now / SPAN).max((self.newest + 2).saturating_sub(SPANS));
        loop {
            index = self.find_room(index);
            let span = self.span(index);
            let take = left.min(SPAN_UNITS - span.used);
            span.used += take;
            left -= take;
            if left == 0 {
                let done = index * SPAN + (span.used * SPAN).div_ceil(SPAN_UNITS);
                self.advance(index);
                return done.max(now);
            }
        }
    }

    /// The first span from `index` on that is not full; shortens the way for later searches.
    fn find_room(&mut self, index: u64) -> u64 {
        let mut found = index;
        loop {
            let span = *self.span(found);
            if span.used < SPAN_UNITS {
                break;
            }
            // Skip two hops and let this span point there at once.
            let after = *self.span(span.next);
            let next = if after.used < SPAN_UNITS {
                span.next
            } else {
                after.next
            };
            self.span(found).next = next;
            found = next;
        }
        if found != index {
            self.span(index).next = found;
        }
        found
    }

    fn span(&mut self, index: u64) -> &mut Span {
        let span = &mut self.spans[(index % SPANS) as usize];
        if span.index != index {
            *span = Span {
                index,
                next: index + 1,
                used: 0,
            };
        }
        span
    }

    /// Brings the load up to date when time has gone on to span `index`.
    fn advance(&mut self, index: u64) {
        if index <= self.newest {
            return;
        }
        self.newest = index;
        let until = index.saturating_sub(LOAD_LAG);
        // After an idle time this long nothing is left of the average.
        self.load_until = self.load_until.max(until.saturating_sub(16 * LOAD_SPANS));
        while self.load_until < until {
            let span = self.spans[(self.load_until % SPANS) as usize];
            let used = if span.index == self.load_until {
                span.used
            } else {
                0
            };
            let share = used / (SPAN_UNITS >> 16);
            self.load = self.load - self.load / LOAD_SPANS + share / LOAD_SPANS;
            self.load_until += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEIGHT: u64 = 1 << 16;

    #[test]
    fn an_idle_server_adds_only_the_transfer() {
        let mut server = Server::new(32.0);
        let done = server.serve(1000 * SPAN, 128, WEIGHT);
        assert!(
            (1000 * SPAN + 4..=1000 * SPAN + 5).contains(&done),
            "{done}"
        );
    }

    #[test]
    fn bandwidth_is_never_exceeded() {
        // The longer queue is longer than the spans that are remembered.
        for requests in [10_000, 400_000] {
            let mut server = Server::new(32.0);
            let mut last = 0;
            for _ in 0..requests {
                last = last.max(server.serve(0, 128, WEIGHT));
            }
            let expected = requests * 128 / 32;
            let error = last.abs_diff(expected);
            assert!(error <= expected / 1000, "{last} for {expected}");
            assert!(server.load() > 60_000, "load {}", server.load());
        }
    }

    #[test]
    fn a_request_handed_in_late_finds_the_room_of_its_time() {
        let mut server = Server::new(32.0);
        server.serve(100 * SPAN, 128, WEIGHT);
        let done = server.serve(50 * SPAN, 128, WEIGHT);
        assert!(done <= 50 * SPAN + 5, "{done}");
    }

    #[test]
    fn load_follows_the_traffic_and_decays_when_idle() {
        let mut server = Server::new(32.0);
        for time in (0..100_000).step_by(8) {
            server.serve(time, 128, WEIGHT);
        }
        assert!(server.load().abs_diff(32768) < 3000, "{}", server.load());
        server.serve(10_000_000, 32, WEIGHT);
        assert!(server.load() < 100, "{}", server.load());
    }

    #[test]
    fn a_heavier_request_takes_longer() {
        let mut server = Server::new(32.0);
        assert!(server.serve(0, 3200, 2 * WEIGHT) >= 199);
    }
}
