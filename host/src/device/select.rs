//! Which device: `--device auto|gpu[:N]|sim[:CHIP]`.

use std::{fmt, rc::Rc, str::FromStr};

use simulator::{Options, chip::Chip};

use super::{Device, DeviceError, Properties, Result, cuda, simulated::SimulatedDevice};

/// A device as chosen on a command line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Selection {
    /// The first GPU, else the simulator.
    Auto,
    /// The GPU with this number, in the driver's order.
    Gpu(u32),
    /// The simulator, modelling this chip.
    Simulator(&'static Chip),
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Gpu(number) => write!(f, "gpu:{number}"),
            Self::Simulator(chip) => write!(f, "sim:{}", chip.name),
        }
    }
}

/// The chip that `sim` without a name models.
fn default_chip() -> &'static Chip {
    Chip::ALL[0]
}

/// A text that names no device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// Another word than the three.
    #[error("'{0}' is no device: auto, gpu, gpu:NUMBER, sim or sim:CHIP is required")]
    Form(String),
    /// No number after `gpu:`.
    #[error("'{0}' is no GPU: a number from 0 is required after 'gpu:', for example gpu:0")]
    Number(String),
    /// No such chip.
    #[error("'{0}' is no chip that can be simulated: one of {names} is required", names = chip_names())]
    Chip(String),
}

fn chip_names() -> String {
    let names: Vec<_> = Chip::ALL.iter().map(|chip| chip.name).collect();
    names.join(", ")
}

impl FromStr for Selection {
    type Err = SelectionError;

    fn from_str(text: &str) -> std::result::Result<Self, SelectionError> {
        match text.split_once(':') {
            None => match text {
                "auto" => Ok(Self::Auto),
                "gpu" => Ok(Self::Gpu(0)),
                "sim" => Ok(Self::Simulator(default_chip())),
                _ => Err(SelectionError::Form(text.to_owned())),
            },
            // `u32::from_str` would take a plus sign.
            Some(("gpu", number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => number
                .parse()
                .map(Self::Gpu)
                .map_err(|_| SelectionError::Number(number.to_owned())),
            Some(("gpu", number)) => Err(SelectionError::Number(number.to_owned())),
            Some(("sim", name)) => Chip::named(name)
                .map(Self::Simulator)
                .ok_or_else(|| SelectionError::Chip(name.to_owned())),
            Some(_) => Err(SelectionError::Form(text.to_owned())),
        }
    }
}

/// An opened device.
pub struct Opened {
    /// The device.
    pub device: Rc<dyn Device>,
    /// What was chosen in the end; never [`Selection::Auto`].
    pub selection: Selection,
    /// A sentence for stderr where `auto` had to do without a GPU.
    pub notice: Option<String>,
}

/// Opens a device.
///
/// # Errors
/// [`DeviceError::Unavailable`] or [`DeviceError::Unsupported`] if a GPU was asked for by name
/// and there is none of that number, or none that runs warplab's PTX. `auto` falls back on the
/// simulator instead, and says so in [`Opened::notice`].
pub fn open(selection: Selection) -> Result<Opened> {
    let gpu = |number| -> Result<Rc<dyn Device>> { Ok(Rc::new(cuda::CudaDevice::open(number)?)) };
    let simulated =
        |chip: &Chip| -> Rc<dyn Device> { Rc::new(SimulatedDevice::new(chip, Options::default())) };
    let (device, selection, notice) = match selection {
        Selection::Gpu(number) => (gpu(number)?, selection, None),
        Selection::Simulator(chip) => (simulated(chip), selection, None),
        Selection::Auto => match gpu(0) {
            Ok(device) => (device, Selection::Gpu(0), None),
            Err(error) => {
                let chip = default_chip();
                (
                    simulated(chip),
                    Selection::Simulator(chip),
                    Some(fallback_notice(&error, chip)),
                )
            }
        },
    };
    Ok(Opened {
        device,
        selection,
        notice,
    })
}

fn fallback_notice(error: &DeviceError, chip: &Chip) -> String {
    format!(
        "running on the simulator: results are exact, times are modelled for {} ({error})",
        chip.product
    )
}

/// All devices that can be selected.
pub struct Listing {
    /// GPUs in the driver's order, or why there are none.
    pub gpus: Result<Vec<Properties>>,
    /// Chips the simulator models, the default one first.
    pub chips: &'static [&'static Chip],
}

/// Lists all devices; opens none.
pub fn list() -> Listing {
    Listing {
        gpus: cuda::list(),
        chips: &Chip::ALL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_and_printed_back() {
        for text in ["auto", "gpu:0", "gpu:7", "sim:h200", "sim:t4"] {
            assert_eq!(text.parse::<Selection>().unwrap().to_string(), text);
        }
        assert_eq!("gpu".parse(), Ok(Selection::Gpu(0)));
        assert_eq!("sim".parse::<Selection>().unwrap().to_string(), "sim:h200");
        assert_eq!(
            "sim:H200".parse::<Selection>().unwrap().to_string(),
            "sim:h200"
        );
    }

    #[test]
    fn other_names_are_refused_with_what_is_required() {
        for (text, part) in [
            ("", "auto, gpu, gpu:NUMBER, sim or sim:CHIP"),
            ("cpu", "'cpu' is no device"),
            ("cuda:0", "'cuda:0' is no device"),
            ("GPU", "'GPU' is no device"),
            ("gpu:", "'' is no GPU"),
            ("gpu:-1", "'-1' is no GPU"),
            ("gpu:+1", "'+1' is no GPU"),
            ("gpu:99999999999", "'99999999999' is no GPU"),
            ("sim:", "'' is no chip"),
            ("sim:h300", "one of h200, "),
        ] {
            let error = text.parse::<Selection>().unwrap_err().to_string();
            assert!(error.contains(part), "{part} in {error}");
        }
    }
}
