//! Loading a driver: a library made for the test stands in for libcuda, in a process of its own.
#![cfg(target_os = "linux")]

use std::{
    ffi::c_void,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::OnceLock,
};

use driver::{Driver, LoadError, Symbol, Version, api, load};

/// A driver of which every function returns 0, except for these: the version comes from the
/// environment, and a launch returns 0 only if all arguments have come through.
const FAKE: &str = r#"
use std::{ffi::c_void, sync::atomic::{AtomicI32, Ordering}};
static CALLS: AtomicI32 = AtomicI32::new(0);
fn number(name: &str, default: i32) -> i32 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}
#[no_mangle]
pub unsafe extern "C" fn cuDriverGetVersion(version: *mut i32) -> i32 {
    CALLS.fetch_add(1, Ordering::SeqCst);
    *version = number("FAKE_VERSION", 12040);
    number("FAKE_STATUS", 0)
}
/// Tells how often the version was asked for, as a number of devices.
#[no_mangle]
pub unsafe extern "C" fn cuDeviceGetCount(count: *mut i32) -> i32 {
    *count = CALLS.load(Ordering::SeqCst);
    0
}
#[no_mangle]
pub extern "C" fn cuLaunchKernel(
    f: *mut c_void, a: u32, b: u32, c: u32, d: u32, e: u32, g: u32, h: u32,
    stream: *mut c_void, parameters: *mut c_void, extra: *mut c_void,
) -> i32 {
    let given = [f as u32, a, b, c, d, e, g, h, stream as u32, parameters as u32, extra as u32];
    i32::from(given != [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
}
"#;
const SPECIAL: [&str; 3] = ["cuDriverGetVersion", "cuDeviceGetCount", "cuLaunchKernel"];

/// A folder whose `libcuda.so.1` is the fake, without the functions `absent`.
fn fake_driver(folder: &str, absent: &[&str]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    fs::create_dir_all(&folder).unwrap();
    let mut source = FAKE.to_owned();
    for symbol in Symbol::ALL {
        let name = symbol.name();
        if !SPECIAL.contains(&name) && !absent.contains(&name) {
            source += &format!(
                "#[no_mangle] #[allow(non_snake_case)] pub extern \"C\" fn {name}() -> i32 {{ 0 }}\n"
            );
        }
    }
    let path = folder.join("fake.rs");
    fs::write(&path, source).unwrap();
    let output = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args([
            "--edition",
            "2021",
            "--crate-type",
            "cdylib",
            "--crate-name",
            "fake",
            "-o",
        ])
        .arg(folder.join("libcuda.so.1"))
        .arg(&path)
        .output()
        .expect("rustc starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    folder
}

fn working_driver() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| fake_driver("working", &["cuLaunchKernelEx"]))
}

/// Set for the tests that only make sense in a child process.
const IN_CHILD: &str = "WARPLAB_TEST_CHILD";

/// Whether this is a child; `cargo test -- --include-ignored` runs its tests without one.
fn is_child() -> bool {
    std::env::var_os(IN_CHILD).is_some()
}

/// Runs one of the tests below that are ignored here, with the library path set.
fn in_child(test: &str, library_path: &Path, environment: &[(&str, &str)]) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env("LD_LIBRARY_PATH", library_path)
        .env(IN_CHILD, "1")
        .envs(environment.iter().copied())
        .output()
        .unwrap()
}

#[track_caller]
fn assert_passed(output: &Output) {
    assert!(
        output.status.success() && String::from_utf8_lossy(&output.stdout).contains("1 passed"),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

unsafe extern "C" {
    fn cuInit(flags: u32) -> i32;
    fn cuDeviceGetCount(count: *mut i32) -> i32;
    fn cuLaunchKernel(
        function: *mut c_void,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        dynamic_shared_bytes: u32,
        stream: *mut c_void,
        parameters: *mut c_void,
        extra: *mut c_void,
    ) -> i32;
}

#[test]
fn calls_go_to_the_driver_once_it_is_loaded() {
    assert_passed(&in_child("child_loads_and_calls", working_driver(), &[]));
}

#[test]
#[ignore = "run by calls_go_to_the_driver_once_it_is_loaded"]
fn child_loads_and_calls() {
    if !is_child() {
        return;
    }
    // SAFETY: nothing is loaded: a stub returns an error.
    assert_eq!(unsafe { cuInit(0) }, 34, "before loading");
    assert!(!Symbol::cuInit.is_resolved());

    let drivers: Vec<&Driver> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| load().unwrap())).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let first = drivers[0];
    assert!(drivers.iter().all(|driver| std::ptr::eq(*driver, first)));
    assert_eq!(
        first.version(),
        Version {
            major: 12,
            minor: 4
        }
    );
    assert_eq!(first.library(), "libcuda.so.1");

    let mut loads = 0;
    let pointer = |value: usize| value as *mut c_void;
    // SAFETY: the fake driver's functions, with the types they have there.
    unsafe {
        assert_eq!(cuInit(0), 0, "after loading");
        assert_eq!(cuDeviceGetCount(&mut loads), 0);
        let status = cuLaunchKernel(
            pointer(1),
            2,
            3,
            4,
            5,
            6,
            7,
            8,
            pointer(9),
            pointer(10),
            pointer(11),
        );
        assert_eq!(status, 0, "all arguments come through");
        let status = cuLaunchKernel(
            pointer(1),
            2,
            3,
            4,
            5,
            6,
            7,
            8,
            pointer(9),
            pointer(10),
            pointer(12),
        );
        assert_eq!(status, 1, "the last argument is looked at");
    }
    assert_eq!(loads, 1, "eight threads load once");

    let error = first.require(Symbol::cuLaunchKernelEx).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("has no function cuLaunchKernelEx"),
        "{error}"
    );
    first.require(Symbol::cuLaunchCooperativeKernel).unwrap();
    let null = std::ptr::null_mut();
    // SAFETY: the driver lacks it: a stub returns an error.
    let status = unsafe { api::cuLaunchKernelEx(std::ptr::null(), null, null.cast(), null.cast()) };
    assert_eq!(status, Err(api::Status(34)));
}

/// Runs `load` in a child and gives the error's text from its output.
fn error_text(library_path: &Path, environment: &[(&str, &str)]) -> String {
    let output = in_child("child_prints_the_error", library_path, environment);
    assert_passed(&output);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
#[ignore = "run by the tests of errors"]
fn child_prints_the_error() {
    if !is_child() {
        return;
    }
    let error: LoadError = load().unwrap_err();
    println!("{error}");
    assert_eq!(load().unwrap_err(), error, "a second call says the same");
    // SAFETY: nothing is loaded: a stub returns an error.
    let status = unsafe { cuInit(0) };
    assert_eq!(status, 34, "nothing of a refused driver is called");
}

#[test]
fn an_old_driver_is_named_with_both_versions() {
    let text = error_text(working_driver(), &[("FAKE_VERSION", "11030")]);
    for part in [
        "libcuda.so.1 is too old",
        "CUDA 11.4 or later is required",
        "up to CUDA 11.3",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_passed(&in_child(
        "child_loads_version_11_4",
        working_driver(),
        &[("FAKE_VERSION", "11040")],
    ));
}

#[test]
#[ignore = "run by an_old_driver_is_named_with_both_versions"]
fn child_loads_version_11_4() {
    if !is_child() {
        return;
    }
    assert_eq!(load().unwrap().version(), driver::REQUIRED_VERSION);
}

#[test]
fn a_missing_function_is_named() {
    let folder = fake_driver("incomplete", &["cuGraphLaunch"]);
    let text = error_text(&folder, &[]);
    assert!(
        text.contains("libcuda.so.1 has no function cuGraphLaunch"),
        "{text}"
    );
}

#[test]
fn a_stub_library_is_told_from_a_driver() {
    let text = error_text(working_driver(), &[("FAKE_STATUS", "34")]);
    assert!(text.contains("toolkit's stub for linking"), "{text}");
}

#[test]
fn a_missing_library_is_said_with_the_places_and_the_remedy() {
    // A file that is no library stands for a missing one: the machine itself may have a driver,
    // which the loader does not reach past a broken file of the same name.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("broken");
    fs::create_dir_all(&folder).unwrap();
    for name in ["libcuda.so.1", "libcuda.so"] {
        fs::write(folder.join(name), "not a library").unwrap();
    }
    if Path::new("/usr/lib/wsl/lib/libcuda.so.1").exists() {
        println!("skipped: this machine's own driver is found under WSL's fixed path");
        return;
    }
    let text = error_text(&folder, &[]);
    for part in [
        "no CUDA driver: libcuda.so.1 could not be opened",
        "/usr/lib/wsl/lib/libcuda.so.1 not found",
        "install NVIDIA's driver, version 470 or later",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}
