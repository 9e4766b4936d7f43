//! The variables, fields and methods that a probe can access at a point.

use crate::error::Reason;
use crate::step::Callee;
use crate::ty::Ty;

/// An instance field of a loaded class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The Java type descriptor.
    pub descriptor: String,
    /// The offset from the beginning of the object, in bytes.
    pub offset: i64,
}

/// The name resolution at one point: live variables, and the classes of their values.
pub trait Scope {
    /// Returns the descriptor of a variable that is live at the point. If the class of the variable
    /// is unknown, the descriptor is `Ljava/lang/Object;`.
    fn variable(&self, name: &str) -> Option<String>;
    /// Returns the descriptor of a parameter of the method, or of `this`, as [`Scope::variable`]
    /// does at the entry of the method. `None` if the method has no such parameter.
    fn parameter(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }
    /// Returns the names of the method's parameters, and `this`.
    fn parameters(&self) -> Vec<String> {
        Vec::new()
    }
    /// Returns the class, name and descriptor of the method: `shop.Desk::serve(I)V`.
    fn method_label(&self) -> String;
    /// Returns the names of all variables that are live at the point.
    fn live(&self) -> Vec<String>;
    /// Returns an instance field of a class (internal name) or of one of its superclasses. Returns
    /// `None` if there is no such field or the class is not loaded.
    fn field(&self, class: &str, name: &str) -> Option<Field>;
    /// Whether the fields of a class (internal name) are known.
    fn is_loaded(&self, class: &str) -> bool;
    /// Returns the name of the point as text: `shop.Desk.serve:41`.
    fn here(&self) -> String;
    /// Returns the number of the instruction at the point ([`veneer_names::site_id`]).
    fn site_id(&self) -> i64;
    /// Returns the point as an allocation site: its class with dots, the name and descriptor of its
    /// method, and its line (empty if unknown), separated by line feeds.
    fn site(&self) -> String {
        String::new()
    }
    /// Returns the number of a new cell that remembers a class, for an inline cache at the point. Each
    /// object misses the cell 0.
    fn inline_cache(&self) -> i64 {
        0
    }
    /// Returns the names of the instance fields of a class, including those of its superclasses.
    fn fields(&self, class: &str) -> Vec<String>;
    /// Returns the number under which the runtime registers a loaded class or interface (internal
    /// name) for casts. From then on, this scope resolves the name to this class.
    ///
    /// # Errors
    /// The class is not loaded, several loaded classes have this name, or the runtime's table of
    /// classes is full.
    fn cast(&self, class: &str) -> Result<i64, Reason>;
    /// Returns the method of this name that an object of a class or interface (internal name) has
    /// for arguments of these types.
    ///
    /// # Errors
    /// No method matches, several methods match equally well, or code at the point cannot be linked
    /// to the matching method.
    fn method(&self, class: &str, name: &str, arguments: &[Ty]) -> Result<Callee, Reason>;
}
