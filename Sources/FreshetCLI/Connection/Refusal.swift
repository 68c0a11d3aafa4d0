import APNSWire
import HTTPTransport
import WidgetModel

extension HTTPClientResponse {
    /// A refusal in words: the problem in the body with the status and, on a second line, its place and detail.
    ///
    /// - Parameter beginning: Who refused, and what.
    func refusal(_ beginning: String) -> String {
        let problem = try? JSONReader().parse(self.body)
        let title = problem?["title"]?.text ?? problem?["reason"]?.text
        var sentence = beginning + (title.map { ": \($0) (\(self.status))" } ?? " with status \(self.status)")
        if let detail = problem?["detail"]?.text {
            sentence += "\n" + (problem?["path"]?.text.map { "\($0): " } ?? "") + detail
        }
        return sentence
    }
}
