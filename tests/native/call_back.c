/* Native methods of `kinds.Natives` (tests/java/kinds), which call methods of the program back. */
#include <jni.h>

JNIEXPORT jint JNICALL Java_kinds_Natives_callStatic(JNIEnv *env, jclass class, jint n) {
    jmethodID called = (*env)->GetStaticMethodID(env, class, "called", "(I)I");
    jint sum = 0;
    for (jint i = 0; called != NULL && i < n; i++) {
        sum += (*env)->CallStaticIntMethod(env, class, called, i);
    }
    return sum;
}

JNIEXPORT void JNICALL Java_kinds_Natives_callVirtual(JNIEnv *env, jobject object, jint n) {
    jclass class = (*env)->GetObjectClass(env, object);
    jmethodID note = (*env)->GetMethodID(env, class, "note", "()V");
    for (jint i = 0; note != NULL && i < n; i++) {
        (*env)->CallVoidMethod(env, object, note);
    }
}
