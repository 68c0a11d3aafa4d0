import Testing

/// The repository keeps its own rules.
@Suite struct TidyTests {
    private func expectNone(_ violations: [Violation], sourceLocation: SourceLocation = #_sourceLocation) {
        for violation in violations { Issue.record("\(violation)", sourceLocation: sourceLocation) }
    }

    @Test func `the sources were found`() {
        #expect(Tree.swift.contains { $0.path == "Sources/WidgetModel/Instant.swift" })
        #expect(Tree.swift.contains { $0.path == "Tests/TidyTests/TidyTests.swift" })
    }

    @Test func `imports only point down`() {
        self.expectNone(Tree.swift.flatMap { Rules.imports($0.path, $0.source) })
    }

    @Test func `unsafe stays in its places`() {
        self.expectNone(Tree.swift.flatMap { Rules.unsafe($0.path, $0.source) })
    }

    @Test func `no part of the engine reads another's tables`() {
        let files = Tree.swift.map { (path: $0.path, source: $0.source) }
        for part in Rules.engineParts { #expect(!Rules.tables(of: part, files).isEmpty, "\(part)") }
        self.expectNone(Rules.parts(files))
    }

    @Test func `no folder of a target depends on one that depends on it`() {
        let files = Tree.swift.map { (path: $0.path, source: $0.source) }
        self.expectNone(FolderRules.circles(files, known: FolderRules.known))
    }

    @Test func `no initialiser asks for everything`() {
        self.expectNone(
            Tree.swift.flatMap { InitializerRules.violations($0.path, $0.source, known: InitializerRules.known) }
        )
    }

    @Test func `pure targets have no clock, no dice and never wait`() {
        self.expectNone(Tree.swift.flatMap { Rules.purity($0.path, $0.source) })
    }

    @Test func `no file is longer than one can read`() {
        self.expectNone(Tree.swift.flatMap { Rules.length($0.path, $0.source) })
    }

    @Test func `nothing is left for later in a comment`() {
        let others = Tree.files(in: "deploy") + Tree.files(in: "certs-example")
        let texts =
            Tree.swift.map { ($0.path, $0.text) } + Tree.pages
            + others.compactMap { path in Tree.text(path).map { (path, $0) } }
        self.expectNone(texts.flatMap { Rules.unfinished($0.0, $0.1) })
    }

    @Test func `scripts lose no words of what takes long`() {
        let scripts = Tree.files(in: "deploy", ending: ".sh") + Tree.files(in: "Tests", ending: ".sh")
        #expect(scripts.contains("deploy/setup.sh"))
        self.expectNone(scripts.flatMap { path in Rules.steps(path, Tree.text(path) ?? "") })
    }

    @Test func `types that other targets see are explained`() {
        self.expectNone(Tree.swift.flatMap { Rules.documentation($0.path, $0.source) })
    }

    @Test func `names say what is inside`() {
        self.expectNone(Tree.swift.flatMap { Rules.names($0.path) })
    }

    @Test func `every folder of Sources is a declared target`() throws {
        let manifest = try #require(Tree.text("Package.swift"))
        let folders = Set(Tree.names(in: "Sources").filter { Tree.isFolder("Sources/\($0)") })
        self.expectNone(Rules.targets(folders: folders, manifest: manifest))
        #expect(!manifest.contains("swift-nio-ssl") && !manifest.contains("swift-nio-http2"))
    }

    @Test func `every page has one title`() {
        self.expectNone(Tree.pages.flatMap { PageRules.headings($0.path, $0.text) })
    }

    @Test func `every link leads somewhere`() {
        self.expectNone(
            Tree.pages.flatMap { path, text in
                PageRules.links(path, text) { target in
                    guard Tree.exists(target) else { return nil }
                    return target.hasSuffix(".md") ? Tree.text(target) : ""
                }
            }
        )
    }

    @Test func `each alert leads to a section of the manual, and a test fires it`() throws {
        let path = "deploy/prometheus/alerts.yml"
        let alerts = try #require(Tree.text(path))
        let manual = try #require(Tree.text("docs/operating.md"))
        let tests = Tree.swift.filter { $0.path.hasPrefix("Tests/EndToEndTests/") }.map(\.text)
        self.expectNone(AlertRules.violations(path, alerts, manual: manual, tests: tests))
    }

    @Test func `the glossary names types that there are`() throws {
        let declared = Set(
            Tree.swift.filter { $0.path.hasPrefix("Sources/") }.flatMap { PageRules.types(in: $0.source) }
        )
        let glossary = try #require(Tree.text("docs/glossary.md"))
        self.expectNone(PageRules.types("docs/glossary.md", glossary, declared: declared))
    }
}
