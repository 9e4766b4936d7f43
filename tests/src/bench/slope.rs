//! Fits straight lines to points, to show how a cost grows.

/// The line `y = base + slope · x`, and the share of the variation that it explains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FittedLine {
    /// The value of `y` at `x` = 0.
    pub base: f64,
    /// The increase of `y` per unit of `x`.
    pub slope: f64,
    /// The coefficient of determination (r²): 1 if all points are on the line, 0 if the line
    /// explains nothing.
    pub fit: f64,
}

/// Fits a line by least squares of the vertical distances. Returns `None` if all `x` are equal.
pub fn fit(points: &[(f64, f64)]) -> Option<FittedLine> {
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (mx, my) = (mean(|p| p.0), mean(|p| p.1));
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in points {
        xx += (x - mx) * (x - mx);
        xy += (x - mx) * (y - my);
        yy += (y - my) * (y - my);
    }
    if points.len() < 2 || xx <= 0.0 {
        return None;
    }
    let slope = xy / xx;
    Some(FittedLine {
        base: my - slope * mx,
        slope,
        fit: if yy > 0.0 { xy * xy / (xx * yy) } else { 1.0 },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_line() {
        let line = fit(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]);
        assert!(
            line.is_some_and(|l| (l.slope - 2.0).abs() < 1e-12
                && (l.base - 1.0).abs() < 1e-12
                && l.fit > 0.999),
            "{line:?}"
        );
        assert_eq!(fit(&[(1.0, 3.0), (1.0, 5.0)]), None);
        assert_eq!(fit(&[]), None);
    }

    #[test]
    fn noise_does_not_fit() {
        let line = fit(&[(0.0, 1.0), (1.0, -1.0), (2.0, -1.0), (3.0, 1.0)]);
        assert!(line.is_some_and(|l| l.fit < 0.01), "{line:?}");
    }
}
