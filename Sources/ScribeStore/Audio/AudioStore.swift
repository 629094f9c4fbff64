/// Objects and multipart uploads: the rows of stored bytes.
package struct AudioStore: StorePart {
    let store: Store
}
