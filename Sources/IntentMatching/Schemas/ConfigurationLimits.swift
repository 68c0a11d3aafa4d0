/// The limits of one configuration. Beyond a limit the gateway refuses it with the parameter's path.
package struct ConfigurationLimits: Hashable, Sendable {
    /// The most parameters given in one configuration. Default 64.
    package var parametersMax = 64
    /// The longest string in bytes of UTF-8. Default 1,024.
    package var stringBytesMax = 1024
    /// The most elements of one array. Default 64.
    package var arrayElementsMax = 64
    /// The most bytes of all strings of one configuration together, defaults not counted. Default 8,192.
    package var totalBytesMax = 8192
    /// The most values that a push brings, each element of an array counted. Default 256: a push is asked about each with
    /// each other.
    package var attributeValuesMax = 256

    package init() {}
}
