//! The files of the page, which are part of the program.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

use super::api_error::ApiError;

#[derive(RustEmbed)]
#[folder = "page"]
#[include = "*.html"]
#[include = "*.css"]
#[include = "*.js"]
#[include = "*.svg"]
#[include = "lib/*.js"]
#[include = "views/*.js"]
#[include = "vendor/*.mjs"]
#[include = "vendor/LICENSE-*"]
#[exclude = "test/*"]
#[exclude = "node_modules/*"]
struct Assets;

/// The file at a path without the first slash; the page itself if the path is empty.
pub fn file(path: &str) -> Response {
    let path = if path.is_empty() { "index.html" } else { path };
    let Some(file) = Assets::get(path) else {
        return ApiError::unknown("file of that name").into_response();
    };
    let kind = match path.rsplit_once('.').map(|(_, kind)| kind) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    };
    ([(CONTENT_TYPE, kind)], file.data).into_response()
}

/// The text of a file of the page.
pub fn text(path: &str) -> Option<String> {
    let file = Assets::get(path)?;
    Some(String::from_utf8_lossy(&file.data).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_its_files_and_no_others() {
        let names: Vec<String> = Assets::iter().map(|name| name.into_owned()).collect();
        for wanted in ["index.html", "app.js", "style.css", "vendor/LICENSE-preact"] {
            assert!(
                names.iter().any(|name| name == wanted),
                "{wanted}: {names:?}"
            );
        }
        for name in &names {
            assert!(
                !name.starts_with("test/") && !name.starts_with("node_modules/"),
                "{name}"
            );
        }
    }

    #[test]
    fn no_file_of_the_page_names_another_server() {
        for name in Assets::iter().filter(|name| !name.starts_with("vendor/")) {
            let file = Assets::get(&name).unwrap();
            let text = String::from_utf8_lossy(&file.data);
            for word in [
                "http://",
                "https://",
                "innerHTML",
                "insertAdjacentHTML",
                "eval(",
            ] {
                let found = text.lines().find(|line| {
                    // The namespace of SVG is a name, not an address.
                    line.contains(word) && !line.contains("http://www.w3.org/2000/svg")
                });
                assert_eq!(found, None, "{name}");
            }
        }
    }
}
