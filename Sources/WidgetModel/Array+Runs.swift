extension Array {
    /// The elements in their order, in runs of at most so many bytes together. One that has more is alone. O(elements).
    ///
    /// - Parameters:
    ///   - bytesMax: The most bytes of a run of several; at least 0.
    ///   - bytes: The bytes of an element; at least 0.
    package func runs(upTo bytesMax: Int, _ bytes: (Element) -> Int) -> [ArraySlice<Element>] {
        var runs: [ArraySlice<Element>] = []
        var (start, sum) = (0, 0)
        for (index, element) in self.enumerated() {
            let size = bytes(element)
            if index > start, size > bytesMax - sum {
                runs.append(self[start..<index])
                (start, sum) = (index, 0)
            }
            sum += size
        }
        if start < self.count { runs.append(self[start...]) }
        return runs
    }
}
