import Basics
import Testing

struct IssuedSecretTests {
    @Test("every secret has 40 digits, and is found at the edges and in the middle of a word", arguments: 0..<64)
    func found(number: UInt8) {
        let secret = IssuedSecret.text((0..<16).map { number &* 37 &+ $0 &* 11 })
        #expect(secret.utf8.count == 40)
        for word in [secret, "a\(secret)", "\(secret)0", "x-\(secret)-7f"] {
            let found = IssuedSecret.firstRange(in: Array(word.utf8)[...])
            #expect(found.map { Array(word.utf8)[$0] } == Array(secret.utf8)[...], "\(word)")
        }
        for word in [String(secret.dropLast()), "\(secret.prefix(20))-\(secret.suffix(20))"] {
            #expect(IssuedSecret.firstRange(in: Array(word.utf8)[...]) == nil, "\(word)")
        }
    }
}
