//! `docs/reference.md` must be equal to the generated reference.

use std::path::Path;

#[test]
fn the_reference_is_up_to_date() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference.md");
    let made = veneer_scripts::reference();
    if std::env::var_os("VENEER_BLESS").is_some() {
        std::fs::write(&file, &made).expect("docs/reference.md can be written");
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(found, made, "run this test with VENEER_BLESS=1");
}
