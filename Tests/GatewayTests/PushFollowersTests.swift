import Serving
import Testing

@Suite struct PushFollowersTests {
    @Test func `wakes that no follower has looked at yet are one`() async throws {
        let followers = PushFollowers(max: 1)
        let subscription = try followers.subscribe()
        for _ in 0..<5 { followers.wake(.applied) }
        followers.wake(.heartbeat)
        followers.close()
        var wakes: [PushFollowers.Wake] = []
        for await wake in subscription.wakes { wakes.append(wake) }
        #expect(wakes == [.heartbeat])
    }

    @Test func `as many as allowed may follow, and one that goes makes room`() throws {
        let followers = PushFollowers(max: 2)
        let first = try followers.subscribe()
        let second = try followers.subscribe()
        #expect(throws: PushFollowers.SubscribeError.tooMany(max: 2)) { try followers.subscribe() }
        #expect(followers.count == 2)
        followers.cancel(first)
        #expect(followers.count == 1)
        let third = try followers.subscribe()
        followers.close()
        #expect(followers.count == 0)
        #expect(throws: PushFollowers.SubscribeError.closing) { try followers.subscribe() }
        followers.cancel(second)
        followers.cancel(third)
    }

    @Test func `with another limit more may follow, or fewer, and those that do stay`() throws {
        let followers = PushFollowers(max: 1)
        let first = try followers.subscribe()
        #expect(throws: PushFollowers.SubscribeError.tooMany(max: 1)) { try followers.subscribe() }
        followers.setLimit(max: 2)
        let second = try followers.subscribe()
        followers.setLimit(max: 1)
        #expect(followers.count == 2)
        followers.cancel(first)
        #expect(throws: PushFollowers.SubscribeError.tooMany(max: 1)) { try followers.subscribe() }
        followers.cancel(second)
        followers.cancel(try followers.subscribe())
    }
}
