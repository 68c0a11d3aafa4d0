/// The limits of one configuration. Beyond a limit the gateway refuses it with the parameter's path.
package struct ConfigurationLimits: Hashable, Sendable {
    /// The most parameters given in one configuration. Default 64.
    package var parametersMax: Int
    /// The longest string in bytes of UTF-8. Default 1,024.
    package var stringBytesMax: Int
    /// The most elements of one array. Default 64.
    package var arrayElementsMax: Int
    /// The most bytes of all strings of one configuration together, defaults not counted. Default 8,192.
    package var totalBytesMax: Int
    /// The most values that a push brings, each element of an array counted. Default 256: a push is asked about each with
    /// each other.
    package var attributeValuesMax: Int

    package init(
        parametersMax: Int = 64,
        stringBytesMax: Int = 1024,
        arrayElementsMax: Int = 64,
        totalBytesMax: Int = 8192,
        attributeValuesMax: Int = 256
    ) {
        self.parametersMax = parametersMax
        self.stringBytesMax = stringBytesMax
        self.arrayElementsMax = arrayElementsMax
        self.totalBytesMax = totalBytesMax
        self.attributeValuesMax = attributeValuesMax
    }
}
