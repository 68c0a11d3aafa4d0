import Testing
import WidgetModel

/// Elements in runs that are bounded by their bytes.
@Suite struct RunTests {
    @Test(
        arguments: [
            ([], []), ([3], [[3]]), ([10], [[10]]), ([11], [[11]]), ([5, 5], [[5, 5]]), ([5, 6], [[5], [6]]),
            ([4, 5, 1, 1], [[4, 5, 1], [1]]), ([11, 1, 9, 1], [[11], [1, 9], [1]]),
            ([.max, .max, 0], [[.max], [.max], [0]]),
            ([0, 0, 10, 0, 1], [[0, 0, 10, 0], [1]]),
        ] as [([Int], [[Int]])]
    )
    func `a run ends before the element that would exceed ten bytes`(sizes: [Int], runs: [[Int]]) {
        #expect(sizes.runs(upTo: 10) { $0 }.map { Array($0) } == runs)
    }
}
