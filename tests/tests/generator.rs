//! The generated tree compiles and runs on every JDK, with the same result.

use veneer_tests::folder::Folder;
use veneer_tests::generator::generate;
use veneer_tests::jdk;
use veneer_tests::process::Process;

#[test]
fn the_generated_tree_is_one_program() -> Result<(), Box<dyn std::error::Error>> {
    let sources = Folder::new("gen")?;
    let files = generate(48, sources.path())?;
    let mut outputs = Vec::new();
    for jdk in jdk::installed() {
        let classes = Folder::new("gen")?;
        jdk.compile(&files, classes.path())?;
        let java = Process::new(jdk.tool("java"))
            .arg("-cp")
            .arg(classes.path())
            .arg("gen.Main");
        let output = java.run()?.succeeded("gen.Main")?;
        assert_eq!(output.out.lines().count(), 5);
        outputs.push(output);
    }
    assert!(
        outputs.windows(2).all(|pair| pair[0] == pair[1]),
        "{outputs:?}"
    );
    Ok(())
}
