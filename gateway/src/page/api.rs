//! The requests of the page, and their answers.
//!
//! | request | answer |
//! | --- | --- |
//! | `GET /`, `GET /FILE` | the files of the page |
//! | `GET api/1/about` | version, and whether edits are allowed |
//! | `GET api/1/machine` | the JVMs |
//! | `POST api/1/jvms/PID/attach` | loads the agent |
//! | `POST api/1/jvms/PID/detach` | detaches by id, or unloads the agent |
//! | `GET api/1/jvms/PID/status`, `…/classes`, `…/methods?class=C` | what is attached; classes; methods |
//! | `GET api/1/jvms/PID/names?beginning=B` | patterns of methods that begin with a text; null without an agent |
//! | `GET api/1/plan-functions` | the functions that plans can call |
//! | `POST api/1/jvms/PID/dry-run` | what a plan would attach, or its error |
//! | `POST api/1/sessions` | opens a session for a tab and a JVM |
//! | `GET api/1/sessions/S/stream` | a WebSocket with the events of the session |
//! | `GET`, `POST api/1/sessions/S/attachments` | what the tab has attached; attaches something |
//! | `DELETE api/1/sessions/S/attachments/A` | detaches it |
//! | `GET api/1/recordings`, `GET`, `DELETE api/1/recordings/R` | recordings, also those on disk |
//! | `POST api/1/jvms/PID/recordings` | starts one |
//! | `POST api/1/recordings/R/end`, `GET api/1/recordings/R/result` | ends it early; its result |
//! | `GET api/1/recordings/R/graph` | of a search: its call graph until now, or null |
//! | `GET api/1/recordings/R/threads`, `…/timeline?from=…` | of a trace: threads; what they did in an interval |
//! | `POST api/1/recordings/R/query` | of a trace: the rows of a query |
//! | `GET api/1/recordings/R/contexts`, `…/difference?against=R` | of a trace: its tree; the comparison with another |
//! | `GET api/1/jvms/PID/doctor`, `…/source?pattern=P` | what would work with a JVM; the source of a method |

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::Router;
use axum::body::Body;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, Query, Request, State};
use axum::http::header::{CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, SET_COOKIE};
use axum::http::{StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use serde::Deserialize;
use serde_json::{Value, json};
use veneer_protocol::DetachTarget;

use super::Server;
use super::access::{Decision, SECURITY_HEADERS};
use super::api_error::ApiError;
use super::files::Files;
use super::plans::{self, PlanFunction, PlanText};
use super::recordings::RequestedRecording;
use super::requested_instrument::RequestedInstrument;
use super::sessions::Session;
use super::sources::{self, SourceOfMethod};
use super::timelines::{Picture, Threads, TimelineQuery};
use super::trace_difference::TraceDifference;
use super::{assets, diagnoses, machine, queries, timelines, trace_contexts, trace_difference};

/// The interval of pings in an event stream, by which the server notices that the tab is gone.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(2);

type ServerState = State<Arc<Server>>;
type Answer<T> = Result<Json<T>, ApiError>;

/// All addresses of the server.
pub fn router(server: Arc<Server>) -> Router {
    let api = Router::new()
        .route("/about", get(about))
        .route("/machine", get(jvms))
        .route("/jvms/{pid}/attach", post(attach_agent))
        .route("/jvms/{pid}/detach", post(detach_any))
        .route("/jvms/{pid}/status", get(status))
        .route("/jvms/{pid}/doctor", get(doctor))
        .route("/jvms/{pid}/source", get(source))
        .route("/jvms/{pid}/classes", get(classes))
        .route("/jvms/{pid}/methods", get(methods))
        .route("/jvms/{pid}/names", get(method_names))
        .route("/plan-functions", get(plan_functions))
        .route("/jvms/{pid}/dry-run", post(dry_run))
        .route("/jvms/{pid}/recordings", post(start_recording))
        .route("/sessions", post(open_session))
        .route("/sessions/{session}", delete(close_session))
        .route("/sessions/{session}/stream", get(stream))
        .route(
            "/sessions/{session}/attachments",
            get(attachments).post(attach),
        )
        .route(
            "/sessions/{session}/attachments/{attachment}",
            delete(detach),
        )
        .route("/recordings", get(recordings))
        .route(
            "/recordings/{recording}",
            get(recording).delete(remove_recording),
        )
        .route("/recordings/{recording}/end", post(end_recording))
        .route("/recordings/{recording}/result", get(recording_result))
        .route("/recordings/{recording}/graph", get(search_graph))
        .route("/recordings/{recording}/threads", get(trace_threads))
        .route("/recordings/{recording}/timeline", get(trace_timeline))
        .route("/recordings/{recording}/query", post(trace_query))
        .route("/recordings/{recording}/contexts", get(trace_contexts))
        .route("/recordings/{recording}/difference", get(trace_difference))
        .fallback(async || ApiError::unknown("such request"));
    Router::new()
        .nest("/api/1", api)
        .fallback(get(file))
        .layer(from_fn_with_state(server.clone(), guard))
        .with_state(server)
}

/// Answers only requests of the page, and adds the headers that protect it.
async fn guard(State(server): ServerState, request: Request<Body>, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let mut response = match server.access.decide(&parts) {
        Decision::Answered => next.run(Request::from_parts(parts, body)).await,
        Decision::SentOn(cookie) => {
            let to_page = [(SET_COOKIE, cookie.as_str()), (LOCATION, "/")];
            (StatusCode::SEE_OTHER, to_page).into_response()
        }
        Decision::Refused(error) => error.into_response(),
    };
    for (name, value) in SECURITY_HEADERS {
        let name = HeaderName::from_static(name);
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn file(uri: Uri) -> Response {
    assets::file(uri.path().trim_start_matches('/'))
}

async fn about(State(server): ServerState) -> Json<Value> {
    Json(json!({
        "version": server.options.version,
        "allow_edits": server.options.allow_edits,
        "pids": server.options.pids,
        "folders": server.files.folders(),
        "first_query": queries::FIRST_QUERY,
    }))
}

async fn jvms(State(server): ServerState) -> Answer<Value> {
    let jvms = machine::jvms(&server.options.veneer, &server.options.pids).await?;
    Ok(Json(json!({"jvms": jvms})))
}

/// Checks that the page may show a JVM.
fn shown(server: &Server, pid: u32) -> Result<u32, ApiError> {
    let pids = &server.options.pids;
    match pids.is_empty() || pids.contains(&pid) {
        true => Ok(pid),
        false => Err(ApiError::unknown(
            "JVM of this id among those that are shown",
        )),
    }
}

async fn attach_agent(State(server): ServerState, Path(pid): Path<u32>) -> Answer<Value> {
    let pid = shown(&server, pid)?;
    let status = machine::waiting(move || machine::attach(pid)).await?;
    Ok(Json(json!({"status": status})))
}

/// A wish to detach attachments of any owner.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Detachment {
    #[serde(default)]
    ids: Vec<String>,
    #[serde(default)]
    unload: bool,
}

async fn detach_any(
    State(server): ServerState,
    Path(pid): Path<u32>,
    Json(wish): Json<Detachment>,
) -> Answer<Value> {
    let pid = shown(&server, pid)?;
    let is_empty = machine::waiting(move || machine::status(pid)).await?;
    let is_empty = is_empty.is_none_or(|status| status.loads.is_empty());
    if !server.options.allow_edits && !is_empty {
        return Err(ApiError::read_only("to detach what others have attached"));
    }
    let which = match wish.unload {
        true => DetachTarget::Unload,
        false => DetachTarget::Ids(wish.ids),
    };
    let report = machine::waiting(move || machine::detach(pid, which)).await?;
    Ok(Json(json!({"detached": report})))
}

async fn status(State(server): ServerState, Path(pid): Path<u32>) -> Answer<Value> {
    let pid = shown(&server, pid)?;
    let status = machine::waiting(move || machine::status(pid)).await?;
    Ok(Json(json!({"status": status})))
}

async fn doctor(State(server): ServerState, Path(pid): Path<u32>) -> Answer<Value> {
    let pid = shown(&server, pid)?;
    let findings = machine::waiting(move || Ok(diagnoses::of_jvm(pid))).await?;
    Ok(Json(json!({"findings": findings})))
}

#[derive(Deserialize)]
struct SourceQuery {
    pattern: String,
}

async fn source(
    State(server): ServerState,
    Path(pid): Path<u32>,
    Query(query): Query<SourceQuery>,
) -> Answer<SourceOfMethod> {
    let pid = shown(&server, pid)?;
    let read = move || sources::of_method(pid, &query.pattern, &server.options.sources);
    Ok(Json(machine::waiting(read).await?))
}

async fn classes(State(server): ServerState, Path(pid): Path<u32>) -> Answer<machine::ClassNames> {
    let pid = shown(&server, pid)?;
    Ok(Json(machine::waiting(move || machine::classes(pid)).await?))
}

#[derive(Deserialize)]
struct ClassQuery {
    class: String,
}

async fn methods(
    State(server): ServerState,
    Path(pid): Path<u32>,
    Query(query): Query<ClassQuery>,
) -> Answer<machine::ClassMethods> {
    let pid = shown(&server, pid)?;
    let found = machine::waiting(move || machine::methods(pid, &query.class)).await?;
    Ok(Json(found))
}

#[derive(Deserialize)]
struct NameQuery {
    beginning: String,
}

async fn method_names(
    State(server): ServerState,
    Path(pid): Path<u32>,
    Query(query): Query<NameQuery>,
) -> Answer<Value> {
    let pid = shown(&server, pid)?;
    let work = move || machine::method_names(pid, &query.beginning);
    Ok(Json(json!({"names": machine::waiting(work).await?})))
}

async fn plan_functions(State(server): ServerState) -> Json<Vec<PlanFunction>> {
    Json(server.options.plan_functions.clone())
}

async fn dry_run(
    State(server): ServerState,
    Path(pid): Path<u32>,
    Json(plan): Json<PlanText>,
) -> Answer<Value> {
    let pid = shown(&server, pid)?;
    let result = plans::dry_run(&server.options.veneer, pid, &plan).await?;
    Ok(Json(result))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionWish {
    pid: u32,
}

async fn open_session(
    State(server): ServerState,
    Json(wish): Json<SessionWish>,
) -> Result<Response, ApiError> {
    let session = server.sessions.open(shown(&server, wish.pid)?)?;
    let body = Json(json!({"session": session.id, "pid": session.pid}));
    Ok((StatusCode::CREATED, body).into_response())
}

async fn close_session(State(server): ServerState, Path(session): Path<String>) -> StatusCode {
    server.sessions.close(&session);
    StatusCode::NO_CONTENT
}

async fn stream(
    State(server): ServerState,
    Path(session): Path<String>,
    upgrade: WebSocketUpgrade,
) -> Result<Response, ApiError> {
    let session = server.sessions.get(&session)?;
    Ok(upgrade.on_upgrade(move |socket| forward(socket, session)))
}

/// Sends the events of a session until the tab or the session is gone. A WebSocket carries them, because
/// a browser opens at most six other connections to a server, and each tab would keep one of them.
async fn forward(mut socket: WebSocket, session: Arc<Session>) {
    let mut events = session.stream();
    let mut ping = tokio::time::interval(KEEP_ALIVE_INTERVAL);
    loop {
        let sent = tokio::select! {
            event = events.next() => match event {
                Some(event) => socket.send(Message::text(event.into_text())).await,
                None => return,
            },
            _ = ping.tick() => socket.send(Message::Ping(Default::default())).await,
            message = socket.recv() => match message {
                None | Some(Err(_) | Ok(Message::Close(_))) => return,
                // The answers to pings need no answer.
                Some(Ok(_)) => Ok(()),
            },
        };
        if sent.is_err() {
            return;
        }
    }
}

async fn attachments(State(server): ServerState, Path(session): Path<String>) -> Answer<Value> {
    let rows = server.sessions.get(&session)?.attachments();
    Ok(Json(json!({"attachments": rows})))
}

async fn attach(
    State(server): ServerState,
    Path(session): Path<String>,
    Json(request): Json<RequestedInstrument>,
) -> Result<Response, ApiError> {
    if request.changes_the_program() && !server.options.allow_edits {
        return Err(ApiError::read_only("this change"));
    }
    let session = server.sessions.get(&session)?;
    let (attachment, plan, attached) = server.sessions.attach(&session, request).await?;
    let body = Json(json!({"attachment": attachment, "plan": plan, "attached": attached}));
    Ok((StatusCode::CREATED, body).into_response())
}

async fn detach(
    State(server): ServerState,
    Path((session, attachment)): Path<(String, String)>,
) -> Result<StatusCode, ApiError> {
    match server.sessions.get(&session)?.detach(&attachment) {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(ApiError::unknown("attachment of this id")),
    }
}

async fn recordings(State(server): ServerState) -> Answer<Value> {
    let own = server.recordings.rows();
    let files = machine::waiting(move || Ok(server.files.rows())).await?;
    Ok(Json(json!({"recordings": own, "files": files})))
}

async fn start_recording(
    State(server): ServerState,
    Path(pid): Path<u32>,
    Json(request): Json<RequestedRecording>,
) -> Result<Response, ApiError> {
    let pid = shown(&server, pid)?;
    if request.changes_the_program() && !server.options.allow_edits {
        return Err(ApiError::read_only("an experiment"));
    }
    let veneer = &server.options.veneer;
    let row = server.recordings.start(veneer, pid, &request)?;
    Ok((StatusCode::CREATED, Json(row)).into_response())
}

async fn recording(
    State(server): ServerState,
    Path(recording): Path<String>,
) -> Result<Response, ApiError> {
    if Files::is_id(&recording) {
        let row = machine::waiting(move || server.files.row(&recording)).await?;
        return Ok(Json(row).into_response());
    }
    Ok(Json(server.recordings.row(&recording)?).into_response())
}

async fn end_recording(
    State(server): ServerState,
    Path(recording): Path<String>,
) -> Result<StatusCode, ApiError> {
    not_on_disk(&recording)?;
    server.recordings.end(&recording)?;
    Ok(StatusCode::ACCEPTED)
}

/// Checks that a request which changes a recording does not mean a file of the user.
fn not_on_disk(recording: &str) -> Result<(), ApiError> {
    match Files::is_id(recording) {
        true => Err(ApiError::bad_request(
            "the page only reads this file; remove it in a terminal",
        )),
        false => Ok(()),
    }
}

async fn remove_recording(
    State(server): ServerState,
    Path(recording): Path<String>,
) -> Result<StatusCode, ApiError> {
    not_on_disk(&recording)?;
    server.recordings.remove(&recording)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn recording_result(
    State(server): ServerState,
    Path(recording): Path<String>,
) -> Result<Response, ApiError> {
    let bytes = if Files::is_id(&recording) {
        let read = move || server.files.result(&recording, &server.options.veneer);
        machine::waiting(read).await?
    } else {
        let path = server.recordings.result(&recording)?;
        let bytes = tokio::fs::read(path).await;
        bytes.map_err(|error| {
            ApiError::of_text("not-read", &format!("the result cannot be read: {error}"))
        })?
    };
    Ok(([(CONTENT_TYPE, "application/json")], bytes).into_response())
}

async fn search_graph(
    State(server): ServerState,
    Path(recording): Path<String>,
) -> Result<Response, ApiError> {
    let path = server.recordings.graph(&recording)?;
    // The command writes the file after the first window of the search.
    let bytes = tokio::fs::read(path).await;
    let bytes = bytes.unwrap_or_else(|_| b"null".to_vec());
    Ok(([(CONTENT_TYPE, "application/json")], bytes).into_response())
}

/// Reads a trace: one of the server's own recordings, or one on disk.
async fn with_trace<T: Send + 'static>(
    server: Arc<Server>,
    recording: String,
    read: impl FnOnce(PathBuf) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    machine::waiting(move || read(server.trace(&recording)?)).await
}

async fn trace_threads(
    State(server): ServerState,
    Path(recording): Path<String>,
) -> Answer<Threads> {
    let read = |directory: PathBuf| timelines::threads(&directory);
    Ok(Json(with_trace(server, recording, read).await?))
}

async fn trace_timeline(
    State(server): ServerState,
    Path(recording): Path<String>,
    Query(query): Query<TimelineQuery>,
) -> Answer<Picture> {
    let read = move |directory: PathBuf| timelines::picture(&directory, &query);
    Ok(Json(with_trace(server, recording, read).await?))
}

async fn trace_contexts(
    State(server): ServerState,
    Path(recording): Path<String>,
) -> Result<Response, ApiError> {
    let read = |directory: PathBuf| trace_contexts::contexts(&directory);
    let json = with_trace(server, recording, read).await?;
    Ok(([(CONTENT_TYPE, "application/json")], json).into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DifferenceQuery {
    against: String,
}

async fn trace_difference(
    State(server): ServerState,
    Path(recording): Path<String>,
    Query(query): Query<DifferenceQuery>,
) -> Answer<TraceDifference> {
    let other = server.clone();
    let read = move |after: PathBuf| {
        let before = other.trace(&query.against)?;
        trace_difference::difference(&before, &after)
    };
    Ok(Json(with_trace(server, recording, read).await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TraceQuery {
    text: String,
}

async fn trace_query(
    State(server): ServerState,
    Path(recording): Path<String>,
    Json(query): Json<TraceQuery>,
) -> Result<Response, ApiError> {
    let veneer = server.options.veneer.clone();
    let directory = with_trace(server, recording, Ok).await?;
    let rows = queries::run(&veneer, &directory, &query.text).await?;
    Ok(([(CONTENT_TYPE, "application/json")], rows).into_response())
}
