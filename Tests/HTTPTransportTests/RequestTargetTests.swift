import HTTPTransport
import Testing

@Suite struct RequestTargetTests {
    @Test(arguments: [
        ("/", []), ("", []), ("/a", ["a"]), ("/a/", ["a", ""]), ("//a", ["", "a"]), ("/a%2Fb/c", ["a/b", "c"]),
        ("/%zz%4", ["%zz%4"]), ("/%41", ["A"]), ("/a+b", ["a+b"]), ("/v1?x", ["v1"]), ("/%C3%BC", ["ü"]),
    ])
    func `segments are split before they are decoded`(target: String, path: [String]) {
        #expect(RequestTarget(target).path == path)
    }

    @Test func `a query is a list of items`() {
        #expect(
            RequestTarget("/?a=1&b=%26+x&&c&a=2&=d?").query == [
                HTTPQueryItem(name: "a", value: "1"), HTTPQueryItem(name: "b", value: "& x"),
                HTTPQueryItem(name: "c", value: ""), HTTPQueryItem(name: "a", value: "2"),
                HTTPQueryItem(name: "", value: "d?"),
            ]
        )
    }
}
