//! `veneer run --complete` with an application server and its beans: the answers are those without
//! Veneer, and the calls of the beans are in the graph. (Tomcat is one of the programs of `trust`.)

use std::error::Error;
use std::io;
use std::net::TcpListener;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use veneer_tests::call_oracle::recorded;
use veneer_tests::command::run;
use veneer_tests::folder::{Folder, files, workspace};
use veneer_tests::jars::jar;
use veneer_tests::java_programs::Outcome;
use veneer_tests::jdk::{self, Jdk};
use veneer_tests::process::Process;

/// The longest time until the server answers.
const START_LIMIT: Duration = Duration::from_secs(240);
/// The number of requests. The last ones fail in a bean.
const REQUESTS: u32 = 55;
/// The newest JDK that the server supports.
const NEWEST_JDK: u32 = 21;

/// Packs the beans into an archive for the server.
fn deployment(jdk: &Jdk, folder: &Folder) -> Result<(), Box<dyn Error>> {
    let classes = folder.join("war/WEB-INF/classes");
    std::fs::create_dir_all(&classes)?;
    let sources = files(&workspace().join("tests/java/ejb/shop"), "java")?;
    Process::new(jdk.tool("javac"))
        .arg("-cp")
        .arg(jar("jakartaee-api")?)
        .arg("-d")
        .arg(&classes)
        .args(&sources)
        .run()?
        .succeeded("javac")?;
    Process::new(jdk.tool("jar"))
        .arg("cf")
        .arg(folder.join("shop.war"))
        .arg("-C")
        .arg(folder.join("war"))
        .arg(".")
        .run()?
        .succeeded("jar")?;
    Ok(())
}

fn free_port() -> Result<u16, Box<dyn Error>> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

fn server(jdk: &Jdk, folder: &Folder, port: u16) -> Result<Process, Box<dyn Error>> {
    Ok(Process::new(jdk.tool("java"))
        .arg("-jar")
        .arg(jar("payara-micro")?)
        .args(["--nocluster", "--noHazelcast", "--contextroot", "/"])
        .args(["--port", &port.to_string(), "--deploy"])
        .arg(folder.join("shop.war")))
}

/// The answer to an order of this many goods; `None` if the server does not answer.
fn answer(port: u16, goods: u32) -> Option<String> {
    let url = format!("http://127.0.0.1:{port}/total?goods={goods}");
    let curl = Process::new("curl").args(["-sf", &url]).run().ok()?;
    (curl.code == 0).then_some(curl.out)
}

/// Waits for the server, asks for all orders, and ends the server.
fn answers(
    mut server: Child,
    port: u16,
    pid: impl Fn(&Child) -> u32,
) -> Result<String, Box<dyn Error>> {
    // The server prints more than a pipe holds.
    let (out, err) = (server.stdout.take(), server.stderr.take());
    let out = std::thread::spawn(move || out.map(|mut out| io::copy(&mut out, &mut io::sink())));
    let err = std::thread::spawn(move || err.map(|mut err| io::copy(&mut err, &mut io::sink())));
    let begin = Instant::now();
    while answer(port, 1).is_none() {
        if begin.elapsed() > START_LIMIT || server.try_wait()?.is_some() {
            return Err("the server does not answer".into());
        }
        std::thread::sleep(Duration::from_millis(500));
    }
    let all: Option<String> = (1..=REQUESTS).map(|goods| answer(port, goods)).collect();
    Process::new("kill")
        .arg(pid(&server).to_string())
        .run()?
        .succeeded("kill")?;
    server.wait()?;
    let _ = (out.join(), err.join());
    all.ok_or_else(|| "a request failed".into())
}

/// The process of `java` below `veneer run`.
fn java_below(command: &Child) -> u32 {
    let children = format!("/proc/{0}/task/{0}/children", command.id());
    let text = std::fs::read_to_string(Path::new(&children)).unwrap_or_default();
    let first = text.split_whitespace().next();
    first.and_then(|pid| pid.parse().ok()).unwrap_or(0)
}

#[test]
#[ignore = "downloads an application server of 100 MB"]
fn an_application_server_answers_as_without_a_recording() -> Outcome {
    let Some(jdk) = jdk::installed()
        .into_iter()
        .find(|jdk| jdk.major() <= NEWEST_JDK)
    else {
        return Err("the server supports JDK 11 to 21".into());
    };
    let folder = Folder::new("ejb")?;
    deployment(&jdk, &folder)?;
    let port = free_port()?;
    let plain = answers(server(&jdk, &folder, port)?.start()?, port, Child::id)?;
    assert!(plain.starts_with("100\n207\n"), "{plain}");
    assert!(plain.ends_with("no such good: good50\n"), "{plain}");
    let (port, file) = (free_port()?, folder.join("server.calls"));
    let options = ["--complete", "--call-graph", &file.to_string_lossy()].map(String::from);
    let options = options.each_ref().map(String::as_str);
    let process = run(&options, &server(&jdk, &folder, port)?);
    let found = answers(process.start()?, port, java_below)?;
    assert_eq!(found, plain);
    let (graph, _) = recorded(&file)?;
    let price = (
        "shop.Prices".to_owned(),
        "price(Ljava/lang/String;)I".to_owned(),
    );
    let orders: i64 = (1..=i64::from(REQUESTS)).map(|goods| goods.min(51)).sum();
    let count = graph.entries.get(&price).copied().unwrap_or(0);
    // The first request for one good was answered several times while the server started.
    assert!(count > orders, "{count} of {orders}");
    assert!(graph.edges.len() > 100_000, "{} edges", graph.edges.len());
    println!(
        "{} methods, {} edges",
        graph.entries.len(),
        graph.edges.len()
    );
    Ok(())
}
