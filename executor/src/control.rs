//! The control endpoint: a Unix socket on which clients ask and are answered, a thread each.

use crate::agent::Agent;
use crate::report;
use crate::worker::Job;
use std::io::BufReader;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::mpsc::channel;
use veneer_protocol::{
    PROTOCOL, Reply, Request, read_message, socket_directory, socket_path, write_message,
};

/// Where this process's socket lies.
pub fn path() -> PathBuf {
    // Safety: a plain system call.
    socket_path(unsafe { libc::geteuid() }, std::process::id())
}

/// Opens the socket and serves it from threads that know no Java.
pub fn serve(agent: &'static Agent) -> Result<(), String> {
    // Safety: a plain system call.
    let uid = unsafe { libc::geteuid() };
    let directory = socket_directory(uid);
    let _ = std::fs::DirBuilder::new().mode(0o700).create(&directory);
    let meta = std::fs::symlink_metadata(&directory)
        .map_err(|e| format!("{}: {e}", directory.display()))?;
    if meta.uid() != uid || !meta.is_dir() {
        return Err(format!(
            "{} is not a directory of this user; remove it",
            directory.display()
        ));
    }
    let _ = std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o700));
    let path = path();
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let accept = move || {
        for stream in listener.incoming().flatten() {
            let _ = std::thread::Builder::new()
                .name("veneer-client".into())
                .spawn(move || client(agent, stream));
        }
    };
    std::thread::Builder::new()
        .name("veneer-control".into())
        .spawn(accept)
        .map_err(|e| e.to_string())?;
    Ok(())
}

fn client(agent: &'static Agent, stream: UnixStream) {
    let Ok(reading) = stream.try_clone() else {
        return;
    };
    let mut reader = BufReader::new(reading);
    let mut writer = stream;
    loop {
        let request = match read_message::<Request>(&mut reader) {
            Ok(Some(request)) => request,
            Ok(None) => return,
            Err(e) => {
                let _ = write_message(
                    &mut writer,
                    &Reply::Failed {
                        message: e.to_string(),
                    },
                );
                return;
            }
        };
        let (send, receive) = channel();
        match request {
            Request::Hello {} => {
                let _ = send.send(Reply::Hello {
                    version: env!("CARGO_PKG_VERSION").into(),
                    pid: std::process::id(),
                    protocol: PROTOCOL,
                });
            }
            Request::Refusals {} => {
                let _ = send.send(Reply::Refusals(report::refusals(agent)));
            }
            Request::Report {} => {
                let _ = send.send(Reply::Report(Box::new(report::make(
                    agent,
                    crate::jvm_name(),
                ))));
            }
            Request::Exec { name, source } => {
                let jobs = agent.jobs.lock().unwrap_or_else(|e| e.into_inner()).clone();
                if jobs
                    .send(Job::Exec {
                        name,
                        source,
                        replies: send.clone(),
                    })
                    .is_err()
                {
                    let _ = send.send(Reply::Failed {
                        message: "the JVM is shutting down".into(),
                    });
                }
            }
        }
        drop(send);
        for reply in receive {
            if write_message(&mut writer, &reply).is_err() {
                return;
            }
        }
    }
}
