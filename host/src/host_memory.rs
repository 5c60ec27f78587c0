//! Memory of the machine the program runs on, which bounds what can be simulated.

use crate::quantity;

/// Host memory in bytes that a simulated byte takes: the byte and the marks of the checks.
const PER_SIMULATED_BYTE: u64 = 2;
/// Host memory in bytes that a simulation takes besides: modules, caches, a chunk of results.
const PER_SIMULATION: u64 = 64 << 20;

/// Host memory in bytes that can be had without swapping; `None` where the system does not tell.
pub fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}

/// Host memory in bytes for a simulation with so much device memory.
fn of_simulation(device_bytes: u64) -> u64 {
    device_bytes
        .saturating_mul(PER_SIMULATED_BYTE)
        .saturating_add(PER_SIMULATION)
}

/// How many simulations with so much device memory each fit side by side; at least one, which
/// [`check`] may then refuse.
pub fn simulations(device_bytes: u64, available: u64) -> usize {
    usize::try_from(available / of_simulation(device_bytes))
        .unwrap_or(usize::MAX)
        .max(1)
}

/// Whether a simulation with so much device memory fits; says what is required otherwise.
pub fn check(device_bytes: u64, available: u64) -> Result<(), String> {
    let required = of_simulation(device_bytes);
    if required <= available {
        return Ok(());
    }
    Err(format!(
        "simulating {} of device memory takes {} of host memory, {} are available: give a smaller --size",
        quantity::bytes(device_bytes),
        quantity::bytes(required),
        quantity::bytes(available),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_bounds_the_simulations() {
        assert_eq!(simulations(1 << 30, 7 << 30), 3);
        assert_eq!(simulations(1 << 30, 1 << 30), 1);
        assert_eq!(check(1 << 30, 3 << 30), Ok(()));
        let error = check(4 << 30, 2 << 30).unwrap_err();
        assert!(
            error.contains("8.1 GiB of host memory, 2.0 GiB are available"),
            "{error}"
        );
        assert!(check(u64::MAX, u64::MAX - 1).is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn linux_tells() {
        assert!(available().is_some_and(|bytes| bytes > 1 << 20));
    }
}
