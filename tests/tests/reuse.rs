//! Process ids of JVMs that have ended. One id is reused by another JVM while the command attaches
//! to the first one. Another test is about sockets that killed JVMs left.

use std::fs;

use veneer_tests::command::{self, veneer};
use veneer_tests::folder::Folder;
use veneer_tests::java_programs::{Outcome, on_a_jdk_with};
use veneer_tests::live::{Live, user};
use veneer_tests::process::Process;
use veneer_tests::skip::{Need, skip};

/// A script that runs in its own process namespace, where it can set the next process id.
///
/// The first JVM does not answer, because one of its threads does not reach a safepoint. While the
/// command waits, the script stops the command, kills the JVM and starts another one with the same
/// id, which already listens for attach requests.
const SCRIPT: &str = r#"
java=$1 jcmd=$2 classes=$3 veneer=$4 dir=$5
"$java" -XX:-UseCountedLoopSafepoints -XX:LoopStripMiningIter=0 -XX:+UseSerialGC -cp "$classes" Hanging 60 > "$dir/first" 2>&1 &
first=$!
while ! grep -q pid "$dir/first"; do sleep 0.05; done
sleep 0.7
"$veneer" attach $first --timeout 20 > "$dir/out" 2> "$dir/err" &
attach=$!
sleep 0.7
kill -STOP $attach
kill -KILL $first
wait $first
mkfifo "$dir/in"
exec 3<> "$dir/in"
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    echo $((first - 1)) > /proc/sys/kernel/ns_last_pid
    "$java" -cp "$classes" Desk < "$dir/in" > "$dir/second" 2> "$dir/second.err" &
    second=$!
    [ $second = $first ] && break
    kill -KILL $second
    wait $second
done
while ! grep -q pid "$dir/second"; do sleep 0.05; done
"$jcmd" $second VM.version > "$dir/version" 2>&1 || exit 3
kill -CONT $attach
wait $attach
echo "attach $?"
echo "same $((second == first))"
echo "threads $(cat /proc/$second/task/*/comm | grep -c '^veneer-')"
echo "trigger $(ls -a . /tmp | grep -c "^.attach_pid$second\$")"
echo "run 3" >&3
echo "stop" >&3
wait $second
echo "second $?"
"#;

#[test]
fn a_process_that_reuses_the_id_is_not_attached_to() -> Outcome {
    if user() != 0 {
        return Ok(skip(Need::Root("may make a process namespace"))?);
    }
    on_a_jdk_with("control", |programs| {
        let folder = Folder::new("reuse")?;
        let script = folder.join("script.sh");
        fs::write(&script, SCRIPT)?;
        let output = Process::new("unshare")
            .args(["--pid", "--fork", "--mount-proc", "sh"])
            .arg(&script)
            .arg(programs.jdk().tool("java"))
            .arg(programs.jdk().tool("jcmd"))
            .arg(programs.classes().path())
            .arg(command::path())
            .arg(folder.path())
            .folder(folder.path())
            .run()?
            .succeeded("script")?;
        let said = fs::read_to_string(folder.join("err"))?;
        let lines: Vec<&str> = output.out.lines().collect();
        let expected = ["attach 2", "same 1", "threads 0", "trigger 0", "second 0"];
        assert_eq!(lines, expected, "{said}{output:?}");
        assert!(
            said.contains("has ended meanwhile, and another process has its number now"),
            "{said}"
        );
        // The second JVM printed no thread dump and no warning about an agent.
        assert_eq!(fs::read_to_string(folder.join("second.err"))?, "");
        assert!(fs::read_to_string(folder.join("second"))?.contains("sum 9"));
        Ok(())
    })
}

#[test]
fn the_socket_of_a_killed_jvm_is_removed_by_the_next_attach() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let killed = Live::start(&programs.java("Desk"))?;
        assert_eq!(killed.value("1 + 1")?, "2");
        let socket = killed.socket();
        assert!(fs::exists(&socket)?);
        // The JVM is killed and waited for.
        drop(killed);
        let other = Live::start(&programs.java("Desk"))?;
        let pid = other.pid().to_string();
        veneer().args(["attach", &pid]).run()?.succeeded("attach")?;
        assert!(!fs::exists(&socket)?);
        assert_eq!(other.value("1 + 1")?, "2");
        other.stop()?.succeeded("Desk")?;
        Ok(())
    })
}
