//! Opening and listing devices by name.

mod support;

use warplab::device::{
    DeviceError,
    select::{Selection, list, open},
};

#[test]
fn auto_takes_the_gpu_or_says_why_not() {
    let opened = open(Selection::Auto).unwrap();
    if support::gpu().is_some() {
        assert_eq!(opened.selection, Selection::Gpu(0));
        assert!(!opened.device.properties().modelled);
        assert_eq!(opened.notice, None);
    } else {
        assert!(matches!(opened.selection, Selection::Simulator(_)));
        assert!(opened.device.properties().modelled);
        let notice = opened.notice.unwrap();
        assert!(notice.starts_with("running on the simulator"), "{notice}");
        assert!(notice.contains("modelled for NVIDIA H200"), "{notice}");
    }
}

#[test]
fn a_gpu_that_is_not_there_is_an_error_not_a_fallback() {
    match open(Selection::Gpu(999)).err() {
        Some(DeviceError::Unavailable(text)) => assert!(text.starts_with("no "), "{text}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_chip_can_be_opened() {
    for chip in list().chips {
        let selection: Selection = format!("sim:{}", chip.name).parse().unwrap();
        let opened = open(selection).unwrap();
        let properties = opened.device.properties();
        assert!(
            properties.name.ends_with(chip.product),
            "{}",
            properties.name
        );
        assert_eq!(properties.sms, chip.sms);
        assert_eq!(opened.notice, None);
    }
}

#[test]
fn gpus_are_listed_with_their_figures() {
    match list().gpus {
        Ok(gpus) => {
            assert!(!gpus.is_empty());
            for gpu in gpus {
                assert!(
                    gpu.sms > 0 && gpu.memory_bytes > 0 && gpu.l2_bytes > 0,
                    "{gpu:?}"
                );
                assert!(gpu.driver.is_some() && !gpu.modelled, "{gpu:?}");
            }
        }
        Err(error) => {
            assert!(support::gpu().is_none(), "{error}");
            assert!(matches!(error, DeviceError::Unavailable(_)), "{error:?}");
        }
    }
}
