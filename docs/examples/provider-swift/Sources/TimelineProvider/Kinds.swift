import Foundation

/// The contents that a host draws.
enum Content: Encodable {
    struct Score: Encodable {
        var type = "score"
        var team: String
        var opponent: String
        var us: Int
        var them: Int
        var minute: Int
        var isPlaceholder: Bool?
    }

    struct Character: Encodable {
        var type = "character"
        var name: String
        var health: Int
        var isPlaceholder: Bool?
    }

    case score(Score)
    case character(Character)

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .score(let score): try score.encode(to: encoder)
        case .character(let character): try character.encode(to: encoder)
        }
    }
}

/// The scores and characters: a file, read for every question. To change a score, write the file.
struct State: Decodable {
    struct Game: Decodable {
        var opponent: String?
        var us: Int?
        var them: Int?
        var minute: Int?
    }

    struct Character: Decodable { var health: Int? }

    var scores: [String: Game]?
    var characters: [String: Character]?

    /// Empty if there is no file.
    init(contentsOf file: URL) throws {
        guard FileManager.default.fileExists(atPath: file.path()) else { return }
        self = try JSONDecoder().decode(State.self, from: Data(contentsOf: file))
    }

    init() {}
}

/// The scores widget and the character widget. Every kind except the character's is answered like scores.
struct Kinds {
    static let teams = ["bears", "rams", "seahawks"]
    static let characters = ["panda", "spouty", "egghead"]

    var state: State

    /// The answer to one request.
    func answer(_ question: Question, _ request: Question.Request) -> Answer {
        var answer = Answer(id: request.id)
        switch question.question {
        case .placeholder:
            answer.entry = .init(content: Kinds(state: State()).content(question.kind, [:], isPlaceholder: true))
        case .snapshot: answer.entry = .init(content: self.content(question.kind, request.configuration))
        case .timeline: answer.timeline = self.timeline(question, request.configuration)
        case .relevance:
            answer.relevance = (self.state.scores ?? [:]).keys.sorted().map { team in
                .init(configuration: ["team": team], from: question.now, to: question.now + 3 * 3600)
            }
        case .recommendations:
            let (key, values) = question.kind == "character" ? ("character", Self.characters) : ("team", Self.teams)
            answer.recommendations = values.map { .init(configuration: [key: $0], description: $0.capitalized) }
        }
        return answer
    }

    private func content(
        _ kind: String,
        _ configuration: [String: String],
        after seconds: Double = 0,
        isPlaceholder: Bool? = nil
    ) -> Content {
        if kind == "character" {
            let name = configuration["character"] ?? "panda"
            let health = self.state.characters?[name]?.health ?? 100
            // It recovers by five an hour, which needs no new timeline.
            let recovered = min(100, health + Int(seconds / 720))
            return .character(.init(name: name, health: recovered, isPlaceholder: isPlaceholder))
        }
        let team = configuration["team"] ?? "seahawks"
        let game = self.state.scores?[team]
        return .score(
            .init(
                team: team,
                opponent: game?.opponent ?? "rams",
                us: game?.us ?? 0,
                them: game?.them ?? 0,
                minute: game?.minute ?? 0,
                isPlaceholder: isPlaceholder
            )
        )
    }

    private func timeline(_ question: Question, _ configuration: [String: String]) -> Timeline {
        let isCharacter = question.kind == "character"
        let entries = (0..<(isCharacter ? 5 : 1)).map { hour in
            let seconds = Double(hour) * 3600
            return Timeline.Entry(
                date: question.now + seconds,
                content: self.content(question.kind, configuration, after: seconds),
                relevance: .init(score: isCharacter ? 1 : 10, duration: 3600)
            )
        }
        return Timeline(entries: entries, policy: isCharacter ? .atEnd : .after(question.now + 2 * 3600))
    }
}
