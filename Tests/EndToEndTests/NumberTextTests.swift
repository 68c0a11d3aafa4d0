@testable import FreshetCLI
import Testing

/// Numbers as verbs show them.
@Suite struct NumberTextTests {
    @Test(
        arguments: [
            (0, "0"), (999, "999"), (1000, "1,000"), (-1234, "-1,234"), (1_234_567, "1,234,567"),
            (.max, "9,223,372,036,854,775,807"), (.min, "-9,223,372,036,854,775,808"),
        ] as [(Int, String)]
    )
    func `digits stand in threes`(number: Int, text: String) {
        #expect(NumberText.grouped(number) == text)
    }
}
