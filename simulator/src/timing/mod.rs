//! When things happen: modelled times for a chip.
