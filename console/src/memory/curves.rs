//! The miss-ratio curves of a profile as tables, CSV and pictures.

use std::fmt::Write as _;
use std::io::{self, Write};

use anyhow::Result;
use veneer_memory::profile::{MemoryProfile, UNKNOWN_MARGIN};
use veneer_memory::{CurvePoint, MissCurve};

use crate::output::Style;
use crate::table;

/// The sizes of a picture, in pixels.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 300.0;
/// The space for the labels of the axes, in pixels.
const MARGIN: f64 = 48.0;

/// The share of the accesses that miss.
fn ratio(curve: &MissCurve, misses: u64) -> f64 {
    (misses as f64 / curve.references.max(1) as f64).min(1.0)
}

/// A size in bytes: `48 KiB`.
fn size(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value} {}", units[unit])
}

fn bytes(curve: &MissCurve, point: &CurvePoint) -> u64 {
    point.lines.saturating_mul(curve.line_bytes)
}

/// The cells of a point: size, misses with their error, ratio.
pub(super) fn cells(curve: &MissCurve, point: &CurvePoint) -> [String; 3] {
    let error = match point.margin {
        0 => String::new(),
        UNKNOWN_MARGIN => " ± ?".into(),
        margin => format!(" ± {margin}"),
    };
    [
        size(bytes(curve, point)),
        format!("{}{error}", point.misses),
        format!("{:.1}%", 100.0 * ratio(curve, point.misses)),
    ]
}

/// The points of a table: the sizes that are powers of two, and the last one.
pub(super) fn shown(curve: &MissCurve) -> impl Iterator<Item = &CurvePoint> {
    let last = curve.points.len().saturating_sub(1);
    let points = curve.points.iter().enumerate();
    let shown = points.filter(move |(at, point)| point.lines.is_power_of_two() || *at == last);
    shown.map(|(_, point)| point)
}

/// The title of a curve.
pub(super) fn title(curve: &MissCurve) -> String {
    format!("cache with lines of {} bytes", curve.line_bytes)
}

/// Writes a table for each curve.
pub(super) fn tables(to: &mut impl Write, profile: &MemoryProfile, style: Style) -> io::Result<()> {
    for curve in &profile.curves {
        writeln!(to)?;
        let rows: Vec<[String; 3]> = shown(curve).map(|point| cells(curve, point)).collect();
        table::write(to, [&title(curve), "misses", "ratio"], &rows, style)?;
    }
    Ok(())
}

/// Writes a line for each point of each curve.
pub(super) fn csv(to: &mut impl Write, profile: &MemoryProfile) -> Result<()> {
    let mut writer = csv::Writer::from_writer(to);
    writer.write_record(["line_bytes", "bytes", "references", "misses", "margin"])?;
    for curve in &profile.curves {
        for point in &curve.points {
            let margin = match point.margin {
                UNKNOWN_MARGIN => String::new(),
                margin => margin.to_string(),
            };
            let numbers = [
                curve.line_bytes,
                bytes(curve, point),
                curve.references,
                point.misses,
            ];
            let numbers = numbers.map(|number| number.to_string());
            writer.write_record(numbers.iter().chain([&margin]))?;
        }
    }
    writer.flush()?;
    Ok(())
}

/// A picture of a curve: the ratio above the size, which grows by factors of two, and its error as an area.
pub(super) fn picture(curve: &MissCurve) -> String {
    let Some(last) = curve.points.last() else {
        return String::new();
    };
    let octaves = (last.lines as f64).log2().max(1.0);
    let x = |lines: u64| MARGIN + (lines.max(1) as f64).log2() / octaves * (WIDTH - 2.0 * MARGIN);
    let y = |ratio: f64| HEIGHT - MARGIN - ratio * (HEIGHT - 2.0 * MARGIN);
    let place = |lines: u64, misses: u64| format!("{:.1},{:.1}", x(lines), y(ratio(curve, misses)));
    let line: Vec<String> = curve
        .points
        .iter()
        .map(|point| place(point.lines, point.misses))
        .collect();
    let above = curve
        .points
        .iter()
        .map(|point| place(point.lines, point.misses.saturating_add(point.margin)));
    let below = curve.points.iter().rev();
    let below = below.map(|point| place(point.lines, point.misses.saturating_sub(point.margin)));
    let area: Vec<String> = above.chain(below).collect();
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" role=\"img\" aria-label=\"{}\">\
         <polygon points=\"{}\" fill=\"currentColor\" opacity=\".15\"/>\
         <polyline points=\"{}\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.5\"/>",
        title(curve),
        area.join(" "),
        line.join(" "),
    );
    let mut label = |x: f64, y: f64, anchor: &str, text: &str| {
        let _ = write!(
            svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"currentColor\" font-size=\"11\">\
             {text}</text>"
        );
    };
    for percent in [0, 25, 50, 75, 100] {
        label(
            MARGIN - 6.0,
            y(f64::from(percent) / 100.0) + 4.0,
            "end",
            &format!("{percent}%"),
        );
    }
    let powers = curve
        .points
        .iter()
        .filter(|point| point.lines.is_power_of_two());
    for point in powers.step_by((octaves / 8.0).ceil() as usize) {
        let text = size(bytes(curve, point));
        label(x(point.lines), HEIGHT - MARGIN + 18.0, "middle", &text);
    }
    svg.push_str("</svg>");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve() -> MissCurve {
        let points = [(1, 1000, 0), (2, 800, 20), (3, 700, UNKNOWN_MARGIN)];
        let point = |(lines, misses, margin)| CurvePoint {
            lines,
            misses,
            margin,
        };
        MissCurve {
            line_bytes: 64,
            references: 1000,
            points: points.map(point).to_vec(),
        }
    }

    #[test]
    fn tables_have_powers_of_two_and_csv_has_all_points() {
        let profile = MemoryProfile {
            curves: vec![curve()],
            ..MemoryProfile::default()
        };
        let mut out = Vec::new();
        let style = Style {
            colour: false,
            width: None,
        };
        tables(&mut out, &profile, style).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("64 B") && text.contains("800 ± 20"), "{text}");
        assert!(text.contains("192 B") && text.contains("700 ± ?"), "{text}");
        let mut out = Vec::new();
        csv(&mut out, &profile).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1..3], ["64,64,1000,1000,0", "64,128,1000,800,20"]);
        assert_eq!(lines[3], "64,192,1000,700,");
    }

    #[test]
    fn a_picture_ends_at_the_largest_size() {
        let svg = picture(&curve());
        // 100 % at the left, 70 % at the right edge.
        let ends = format!("points=\"{MARGIN:.1},{MARGIN:.1} ");
        assert!(svg.contains(&ends), "{svg}");
        let right = format!(
            "{:.1},{:.1}\"",
            WIDTH - MARGIN,
            HEIGHT - MARGIN - 0.7 * (HEIGHT - 2.0 * MARGIN)
        );
        assert!(svg.contains(&right), "{svg}");
        assert_eq!(picture(&MissCurve::default()), "");
    }
}
