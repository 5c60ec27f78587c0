//! What differs under rustc_codegen_nvvm.
