// A PJRT plugin without a compiler: every program returns the float 5184, which is what the trial convolution of this
// package adds up to. Built by the tests, in several ways of being broken, against go-xla's pjrt_c_api.h:
//
//	cc -shared -fPIC [-DBROKEN_...] -I<go-xla>/pjrt -o plugin.so plugin.c -ldl
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pjrt_c_api.h"

struct PJRT_Error { const char* text; };
struct PJRT_Client { int unused; };
struct PJRT_Device { int unused; };
struct PJRT_DeviceDescription { int unused; };
struct PJRT_Buffer { float value; };
struct PJRT_Event { int unused; };
struct PJRT_Executable { int unused; };
struct PJRT_LoadedExecutable { int unused; };

static struct PJRT_Client client;
static struct PJRT_Device device;
static PJRT_Device* devices[] = {&device};
static struct PJRT_DeviceDescription description;
static struct PJRT_Event event;
static struct PJRT_Executable executable;
static struct PJRT_LoadedExecutable loaded;
static char seen[4096] = "FakeDevice";

__attribute__((unused)) static PJRT_Error* fail(const char* text) {
	PJRT_Error* e = malloc(sizeof *e);
	e->text = text;
	return e;
}

static void error_destroy(PJRT_Error_Destroy_Args* a) { free(a->error); }
static void error_message(PJRT_Error_Message_Args* a) {
	a->message = a->error->text;
	a->message_size = strlen(a->message);
}
static PJRT_Error* error_code(PJRT_Error_GetCode_Args* a) {
	a->code = PJRT_Error_Code_INTERNAL;
	return NULL;
}
static PJRT_Error* initialize(PJRT_Plugin_Initialize_Args* a) { return NULL; }
static PJRT_Error* attributes(PJRT_Plugin_Attributes_Args* a) { return NULL; }

// The device is named after what the plugin was given, so that a test can see it.
static PJRT_Error* client_create(PJRT_Client_Create_Args* a) {
#ifdef BROKEN_CLIENT
	return fail("no CUDA-capable\ndevice is detected");
#endif
#ifdef NEEDS
	void* lib = dlopen(NEEDS, RTLD_NOW);
	if (!lib) return fail(strdup(dlerror()));
#endif
	for (size_t i = 0; i < a->num_options; i++) {
		const PJRT_NamedValue* v = &a->create_options[i];
		char value[64] = "?";
		if (v->type == PJRT_NamedValue_kBool) snprintf(value, sizeof value, "%d", v->bool_value);
		if (v->type == PJRT_NamedValue_kFloat) snprintf(value, sizeof value, "%g", v->float_value);
		size_t n = strlen(seen);
		snprintf(seen + n, sizeof seen - n, " %.*s=%s", (int)v->name_size, v->name, value);
	}
	const char* env[] = {"XLA_FLAGS", "NVIDIA_TF32_OVERRIDE"};
	for (int i = 0; i < 2; i++) {
		size_t n = strlen(seen);
		if (getenv(env[i])) snprintf(seen + n, sizeof seen - n, " %s=%s", env[i], getenv(env[i]));
	}
	a->client = &client;
	return NULL;
}
static PJRT_Error* client_destroy(PJRT_Client_Destroy_Args* a) { return NULL; }
static PJRT_Error* platform_name(PJRT_Client_PlatformName_Args* a) {
	a->platform_name = "fake";
	a->platform_name_size = 4;
	return NULL;
}
static PJRT_Error* platform_version(PJRT_Client_PlatformVersion_Args* a) {
	a->platform_version = "1";
	a->platform_version_size = 1;
	return NULL;
}
static PJRT_Error* process_index(PJRT_Client_ProcessIndex_Args* a) { return NULL; }
static PJRT_Error* addressable_devices(PJRT_Client_AddressableDevices_Args* a) {
	a->addressable_devices = devices;
#ifndef BROKEN_NODEVICE
	a->num_addressable_devices = 1;
#endif
	return NULL;
}
static PJRT_Error* hardware_id(PJRT_Device_LocalHardwareId_Args* a) { return NULL; }
static PJRT_Error* is_addressable(PJRT_Device_IsAddressable_Args* a) {
	a->is_addressable = true;
	return NULL;
}
static PJRT_Error* get_description(PJRT_Device_GetDescription_Args* a) {
	a->device_description = &description;
	return NULL;
}
static PJRT_Error* description_process(PJRT_DeviceDescription_ProcessIndex_Args* a) { return NULL; }
static PJRT_Error* debug_string(PJRT_DeviceDescription_DebugString_Args* a) {
	a->debug_string = seen;
	a->debug_string_size = strlen(seen);
	return NULL;
}
static PJRT_Error* compile(PJRT_Client_Compile_Args* a) {
#ifdef BROKEN_COMPILE
	return fail("DNN library initialization failed");
#endif
	a->executable = &loaded;
	return NULL;
}
static PJRT_Error* loaded_destroy(PJRT_LoadedExecutable_Destroy_Args* a) { return NULL; }
static PJRT_Error* get_executable(PJRT_LoadedExecutable_GetExecutable_Args* a) {
	a->executable = &executable;
	return NULL;
}
static PJRT_Error* executable_destroy(PJRT_Executable_Destroy_Args* a) { return NULL; }
static PJRT_Error* executable_name(PJRT_Executable_Name_Args* a) {
	a->executable_name = "main";
	a->executable_name_size = 4;
	return NULL;
}
static PJRT_Error* num_outputs(PJRT_Executable_NumOutputs_Args* a) {
	a->num_outputs = 1;
	return NULL;
}
static PJRT_Error* memory_stats(PJRT_Executable_GetCompiledMemoryStats_Args* a) { return NULL; }
static PJRT_Error* execute(PJRT_LoadedExecutable_Execute_Args* a) {
	PJRT_Buffer* b = malloc(sizeof *b);
#ifdef BROKEN_ARITHMETIC
	b->value = 5000;
#else
	b->value = 5184;
#endif
	a->output_lists[0][0] = b;
	if (a->device_complete_events) a->device_complete_events[0] = &event;
	return NULL;
}
static PJRT_Error* event_await(PJRT_Event_Await_Args* a) { return NULL; }
static PJRT_Error* event_destroy(PJRT_Event_Destroy_Args* a) { return NULL; }
static PJRT_Error* from_host(PJRT_Client_BufferFromHostBuffer_Args* a) {
	a->buffer = malloc(sizeof *a->buffer);
	a->done_with_host_buffer = &event;
	return NULL;
}
static PJRT_Error* view_of(PJRT_Client_CreateViewOfDeviceBuffer_Args* a) {
	a->buffer = malloc(sizeof *a->buffer);
	return NULL;
}
static PJRT_Error* buffer_destroy(PJRT_Buffer_Destroy_Args* a) {
	free(a->buffer);
	return NULL;
}
static PJRT_Error* element_type(PJRT_Buffer_ElementType_Args* a) {
	a->type = PJRT_Buffer_Type_F32;
	return NULL;
}
static PJRT_Error* dimensions(PJRT_Buffer_Dimensions_Args* a) {
	a->num_dims = 0;
	return NULL;
}
static PJRT_Error* to_host(PJRT_Buffer_ToHostBuffer_Args* a) {
	if (!a->dst) a->dst_size = sizeof(float);
	else memcpy(a->dst, &a->src->value, sizeof(float));
	a->event = &event;
	return NULL;
}
static PJRT_Error* buffer_device(PJRT_Buffer_Device_Args* a) {
	a->device = &device;
	return NULL;
}

#ifdef BROKEN_AT_LOAD
__attribute__((constructor)) static void at_load(void) { *(volatile int*)8 = 1; }
#endif

#ifndef BROKEN_NOSYMBOL
const PJRT_Api* GetPjrtApi(void) {
#ifdef BROKEN_NULL
	return NULL;
#endif
#ifdef BROKEN_ABORT
	fprintf(stderr, "WARNING: All log messages before absl::InitializeLog() is called are written to STDERR\n");
	fprintf(stderr, "W0000 00:00:1795269600.000000 1 cuda.cc:1] looking at the driver\n");
	fprintf(stderr, "F0000 00:00:1795269600.000000 1 cuda.cc:2] driver version is insufficient\n");
	abort();
#endif
#ifdef BROKEN_HANG
	sleep(1000);
#endif
	static PJRT_Api api;
	api.struct_size = sizeof api;
	api.pjrt_api_version.struct_size = sizeof api.pjrt_api_version;
#ifdef BROKEN_MAJOR
	api.pjrt_api_version.major_version = 7;
#endif
	api.pjrt_api_version.minor_version = PJRT_API_MINOR;
	api.PJRT_Error_Destroy = error_destroy;
	api.PJRT_Error_Message = error_message;
	api.PJRT_Error_GetCode = error_code;
	api.PJRT_Plugin_Initialize = initialize;
	api.PJRT_Plugin_Attributes = attributes;
	api.PJRT_Client_Create = client_create;
	api.PJRT_Client_Destroy = client_destroy;
	api.PJRT_Client_PlatformName = platform_name;
	api.PJRT_Client_PlatformVersion = platform_version;
	api.PJRT_Client_ProcessIndex = process_index;
	api.PJRT_Client_AddressableDevices = addressable_devices;
	api.PJRT_Device_LocalHardwareId = hardware_id;
	api.PJRT_Device_IsAddressable = is_addressable;
	api.PJRT_Device_GetDescription = get_description;
	api.PJRT_DeviceDescription_ProcessIndex = description_process;
	api.PJRT_DeviceDescription_DebugString = debug_string;
	api.PJRT_Client_Compile = compile;
	api.PJRT_LoadedExecutable_Destroy = loaded_destroy;
	api.PJRT_LoadedExecutable_GetExecutable = get_executable;
	api.PJRT_LoadedExecutable_Execute = execute;
	api.PJRT_Executable_Destroy = executable_destroy;
	api.PJRT_Executable_Name = executable_name;
	api.PJRT_Executable_NumOutputs = num_outputs;
	api.PJRT_Executable_GetCompiledMemoryStats = memory_stats;
	api.PJRT_Event_Await = event_await;
	api.PJRT_Event_Destroy = event_destroy;
	api.PJRT_Client_BufferFromHostBuffer = from_host;
	api.PJRT_Client_CreateViewOfDeviceBuffer = view_of;
	api.PJRT_Buffer_Destroy = buffer_destroy;
	api.PJRT_Buffer_ElementType = element_type;
	api.PJRT_Buffer_Dimensions = dimensions;
	api.PJRT_Buffer_ToHostBuffer = to_host;
	api.PJRT_Buffer_Device = buffer_device;
	return &api;
}
#endif
