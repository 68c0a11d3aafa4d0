import Foundation
import Testing

@testable import FreshetClient

/// Event streams, in whatever parts they come.
@Suite struct EventParserTests {
    private static let stream =
        "retry: 250\n\nid: 7-1\nevent: reload\ndata: {\"a\":\ndata: 1}\n\n: beat\nid: 7-2\n\nevent: gap\r\ndata\r\n\r\ndata:é\n\n"
    private static let events = [
        ServerSentEvent(name: "reload", data: Data("{\"a\":\n1}".utf8)),
        ServerSentEvent(name: "gap", data: Data()), ServerSentEvent(name: "", data: Data("é".utf8)),
    ]

    @Test(arguments: 1...Self.stream.utf8.count)
    func `events are the same wherever the stream is cut`(_ size: Int) throws {
        var parser = EventParser(bytesMax: 100)
        var rest = Data(Self.stream.utf8)
        var events: [ServerSentEvent] = []
        while !rest.isEmpty {
            events += try parser.read(rest.prefix(size))
            rest = Data(rest.dropFirst(size))
        }
        #expect(events == Self.events)
        #expect(parser.place == "7-2")
        #expect(parser.retry == .milliseconds(250))
    }

    @Test func `an event that is not whole comes again`() throws {
        var parser = EventParser(bytesMax: 100)
        #expect(try parser.read(Data("event: reload\ndata: 1\nda".utf8)).isEmpty)
        parser.restart()
        #expect(try parser.read(Data("data: 2\n\n".utf8)) == [ServerSentEvent(name: "", data: Data("2".utf8))])
    }

    @Test(arguments: [
        ("data: 1234", true), ("data: 12345", false), ("data: 1\ndata: 23", true), ("data: 1\ndata: 234567890", false),
    ])
    func `an event is as long as it may be`(_ text: String, _ fits: Bool) throws {
        var parser = EventParser(bytesMax: 10)
        do {
            #expect(try parser.read(Data("\(text)\n\n".utf8)).count == 1)
            #expect(fits)
        } catch {
            #expect(!fits && "\(error)".contains("more than 10 bytes"))
        }
    }

    @Test func `a wait that is none is passed over`() throws {
        var parser = EventParser(bytesMax: 100)
        _ = try parser.read(Data("retry: 5\nretry: -1\nretry: 99999999999\nretry: soon\n\n".utf8))
        #expect(parser.retry == .milliseconds(5))
    }
}
