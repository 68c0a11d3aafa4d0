/// The version of this program; CHANGELOG.md says what each brought.
package enum FreshetVersion {
    package static let current = "0.2.0"
}
