//! Whether a reduction's results are right.

use super::{
    Operation,
    element::{Input, Reference},
    setup::{Arrays, Bound, Configuration},
};
use crate::{
    device::{Device, PreparedLaunch},
    experiments::Failure,
    report::Stage,
};

/// Runs twice over one of the inputs and compares both results with the reference, and with each
/// other where they must be the same: a second launch finds what the first left behind.
///
/// # Errors
/// A result that is wrong, and what the device reports.
pub fn verify(
    device: &dyn Device,
    bound: &mut Bound,
    arrays: &Arrays,
    input: Input,
    reference: &Reference,
) -> Result<(), Failure> {
    let sequence = bound.sequence(arrays, input);
    let first = result_of(device, bound, &sequence)?;
    check(bound, input, reference, first, "")?;
    let second = result_of(device, bound, &sequence)?;
    check(bound, input, reference, second, " in the second launch")?;
    let Configuration {
        variant,
        operation,
        element,
        ..
    } = *bound.configuration();
    if variant.deterministic(operation, element) && first != second {
        let before = element.display(first);
        let what = format!("expected the bits of the first launch ({before}) in the second");
        return Err(wrong(bound, &what, second));
    }
    Ok(())
}

/// Checks the result that launches left behind over one of the inputs, and that nothing behind it was
/// overwritten. `when` says which launches, as the end of a sentence.
///
/// # Errors
/// A result that is wrong, and what the device reports.
pub(super) fn verify_left_behind(
    bound: &Bound,
    input: Input,
    reference: &Reference,
    when: &str,
) -> Result<(), Failure> {
    let got = bound.result().map_err(Failure::at(Stage::Verification))?;
    check(bound, input, reference, got, when)
}

fn check(
    bound: &Bound,
    input: Input,
    reference: &Reference,
    got: u64,
    when: &str,
) -> Result<(), Failure> {
    let element = bound.configuration().element;
    let tolerance = tolerance(bound, input, reference);
    let agrees = match tolerance {
        None => got == reference.bits,
        // A NaN is near nothing.
        Some(tolerance) => (element.to_f64(got) - reference.sum).abs() <= tolerance,
    };
    if !agrees {
        let expected = match tolerance {
            None => element.display(reference.bits),
            Some(tolerance) => format!("{:e} within {tolerance:e}", reference.sum),
        };
        return Err(wrong(bound, &format!("expected {expected}{when}"), got));
    }
    let overwritten = bound
        .overwritten()
        .map_err(Failure::at(Stage::Verification))?;
    if let Some(byte) = overwritten {
        return Err(Failure::new(
            Stage::Verification,
            format!(
                "kernel {}: byte {byte} behind the result was overwritten; only {} bytes may be \
                 written",
                bound.configuration().kernel.name,
                element.bytes()
            ),
        ));
    }
    Ok(())
}

fn wrong(bound: &Bound, what: &str, got: u64) -> Failure {
    let Configuration {
        kernel, element, ..
    } = bound.configuration();
    let reason = format!(
        "kernel {}: {what}, got {}",
        kernel.name,
        element.display(got)
    );
    Failure::new(Stage::Verification, reason)
}

fn result_of(
    device: &dyn Device,
    bound: &mut Bound,
    sequence: &[PreparedLaunch],
) -> Result<u64, Failure> {
    bound.poison().map_err(Failure::at(Stage::Memory))?;
    for launch in sequence {
        device
            .launch_prepared(launch)
            .map_err(Failure::at(Stage::Launch))?;
    }
    bound.result().map_err(Failure::at(Stage::Verification))
}

/// How far a sum of random floats may be off: each addition rounds by at most the unit roundoff, and
/// a value passes through so many (Higham, Accuracy and Stability of Numerical Algorithms, 2nd
/// edition, section 4.2). `None` where the result must be exact.
fn tolerance(bound: &Bound, input: Input, reference: &Reference) -> Option<f64> {
    let configuration = bound.configuration();
    let exact = !configuration.element.is_float()
        || configuration.operation != Operation::Sum
        || input == Input::Whole;
    if exact {
        return None;
    }
    let depth = configuration.variant.depth(configuration.n, bound.config());
    // Once more for the second order and for the rounding of the reference itself.
    let roundings = depth as f64 + 1.0;
    Some(roundings * configuration.element.unit_roundoff() * reference.magnitude)
}
