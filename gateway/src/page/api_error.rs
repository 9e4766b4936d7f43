//! Errors as the page gets them: a stable code, the problem and the remedy.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// An error that the page shows. In JSON: `{"error":{"code":…,"problem":…,"remedy":…}}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ApiError {
    /// The status of the HTTP response.
    #[serde(skip)]
    pub status: StatusCode,
    /// The stable name of the error.
    pub code: &'static str,
    /// The problem and its place.
    pub problem: String,
    /// An action of the user that solves the problem; empty if none is known.
    pub remedy: String,
}

#[derive(Serialize)]
struct Body {
    error: ApiError,
}

impl ApiError {
    /// An error of the request or of the JVM that it concerns.
    pub fn new(
        status: StatusCode,
        code: &'static str,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> ApiError {
        ApiError {
            status,
            code,
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }

    /// An error whose text is the problem, `; ` and the remedy.
    pub fn of_text(code: &'static str, text: &str) -> ApiError {
        let (problem, remedy) = text.split_once("; ").unwrap_or((text, ""));
        ApiError::new(StatusCode::BAD_GATEWAY, code, problem, remedy)
    }

    /// The request names another server.
    pub fn wrong_host(own: &str) -> ApiError {
        ApiError::new(
            StatusCode::FORBIDDEN,
            "wrong-host",
            "this server has another name",
            format!("open http://{own}/"),
        )
    }

    /// The request has no token, or a wrong one.
    pub fn wrong_token() -> ApiError {
        ApiError::new(
            StatusCode::UNAUTHORIZED,
            "wrong-token",
            "the browser has not shown the token of this server",
            "open the address that `veneer serve` printed",
        )
    }

    /// Another page sent the request.
    pub fn foreign_origin() -> ApiError {
        ApiError::new(
            StatusCode::FORBIDDEN,
            "foreign-origin",
            "the request does not come from the page of this server",
            "",
        )
    }

    /// The server was started without `--allow-edits`.
    pub fn read_only(what: &str) -> ApiError {
        ApiError::new(
            StatusCode::FORBIDDEN,
            "read-only",
            format!("{what} is not allowed: it can change what the program does"),
            "start `veneer serve --allow-edits`",
        )
    }

    /// The address names nothing.
    pub fn unknown(what: &str) -> ApiError {
        ApiError::new(
            StatusCode::NOT_FOUND,
            "unknown",
            format!("there is no {what}"),
            "",
        )
    }

    /// A limit of the server is reached.
    pub fn too_many(problem: &str, remedy: &str) -> ApiError {
        ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too-many", problem, remedy)
    }

    /// The body or the address of the request cannot be used.
    pub fn bad_request(problem: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::BAD_REQUEST, "bad-request", problem, "")
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(Body { error: self })).into_response()
    }
}
