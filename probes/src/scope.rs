//! What a probe can see at a point.

use crate::error::Reason;
use crate::step::Callee;
use crate::ty::Ty;

/// A field of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its Java type.
    pub descriptor: String,
    /// Bytes from the beginning of the object.
    pub offset: i64,
}

/// The point, and the classes around it.
pub trait Scope {
    /// The Java type of a variable that is live at the point, as a descriptor. One whose class is not known is
    /// `Ljava/lang/Object;`.
    fn variable(&self, name: &str) -> Option<String>;
    /// The names of all of them.
    fn live(&self) -> Vec<String>;
    /// An instance field of a class (internal name) or of one above it; `None` where there is none, or the class is not loaded.
    fn field(&self, class: &str, name: &str) -> Option<Field>;
    /// Whether the fields of a class (internal name) are known yet.
    fn is_loaded(&self, class: &str) -> bool;
    /// The point in words: `shop.Desk.serve:41`.
    fn here(&self) -> String;
    /// The names of its instance fields, those of the classes above too.
    fn fields(&self, class: &str) -> Vec<String>;
    /// The number under which the runtime knows a loaded class or interface (internal name), for casts to it. From now on it is
    /// the class of this name here.
    ///
    /// # Errors
    /// It is not loaded, or several of this name are, or there are too many such classes.
    fn cast(&self, class: &str) -> Result<i64, Reason>;
    /// The method of this name that an object of a class (internal name) or interface has for arguments of these types.
    ///
    /// # Errors
    /// There is none, or not one alone, or none that code at the point can be linked to.
    fn method(&self, class: &str, name: &str, arguments: &[Ty]) -> Result<Callee, Reason>;
}
