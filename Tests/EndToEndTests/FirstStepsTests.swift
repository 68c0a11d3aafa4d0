import Settings
import Testing

@testable import FreshetCLI

/// The commands that `freshet init` prints: those for several machines find the folder on each.
@Suite struct FirstStepsTests {
    private static func text(_ folder: String, machines: Int = 3) -> String {
        var first = FirstConfiguration()
        first.brokers = FirstBrokers(servers: (1...machines).map { "nats://10.0.0.\($0):4222" })
        return FirstSteps(first, folder: folder, full: "/srv/own/trial", program: "freshet").text
    }

    @Test(arguments: ["trial", "trial/"])
    func `a plain name is a folder at home`(folder: String) {
        let text = Self.text(folder)
        let copy = #"for machine in 10.0.0.2 10.0.0.3; do scp -r trial "$machine:"; done"#
        #expect(text.contains("# Copy the folder to your home folder on the other machines:\n\(copy)\n"), "\(text)")
        #expect(text.contains("\n(cd trial && MACHINE=10.0.0.1 nats-server -c broker.conf)\n"), "\(text)")
        #expect(text.contains("\nfreshet serve --config trial/freshet.yaml\n"), "\(text)")
    }

    @Test(arguments: [
        ("/srv/trial", "/srv/trial", "/srv"), ("/trial/", "/trial", "/"),
        ("/srv/a trial", "'/srv/a trial'", "/srv"), ("/my srv/trial", "'/my srv/trial'", "'/my srv'"),
        // What is found from this machine's working folder alone.
        (".", "/srv/own/trial", "/srv/own"), ("./trial", "/srv/own/trial", "/srv/own"),
        ("..", "/srv/own/trial", "/srv/own"), ("a/b", "/srv/own/trial", "/srv/own"),
        ("a:b", "/srv/own/trial", "/srv/own"),
    ])
    func `any other has the same path on each machine`(folder: String, path: String, above: String) {
        let text = Self.text(folder)
        let copy = #"for machine in 10.0.0.2 10.0.0.3; do scp -r \#(path) "$machine:"\#(above); done"#
        #expect(text.contains("# Copy the folder to the same place on the other machines:\n\(copy)\n"), "\(text)")
        #expect(text.contains("\n(cd \(path) && MACHINE=10.0.0.1 nats-server -c broker.conf)\n"), "\(text)")
    }

    @Test func `what stays on one machine is named as it was`() {
        let text = Self.text(".", machines: 1)
        #expect(text.contains("\nfreshet serve --config freshet.yaml\n") && !text.contains("scp"), "\(text)")
    }
}
